/** APIServices: registrations of group versions, of this server or of aggregated ones. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { dns1035Label, pathSegmentName } from '@plat-dev/meta/names';
import { formatTime } from '@plat-dev/meta/time';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind } from '../kind.ts';
import { status } from '../subresources.ts';
import { each } from '../validation/each.ts';
import { report, subdomain } from '../validation/field-checks.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { validateServicePort } from '../validation/webhook-client.ts';
import { APIService, type APIServiceCondition } from './schema/v1.ts';

const root = Path.of('spec');
const MAX_GROUP_PRIORITY = 20_000;
const MAX_VERSION_PRIORITY = 1000;
const statuses = ['True', 'False', 'Unknown'];

function validate(service: APIService, errors: FieldErrors): void {
  const { group = '', version = '', groupPriorityMinimum, versionPriority } = service.spec;
  const { name = '' } = service.metadata;
  const expectedName = `${version}.${group}`;
  if (name !== expectedName && name !== '' && pathSegmentName(name).length === 0)
    errors.invalid(Path.of('metadata', 'name'), name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(expectedName)}`);
  if (group !== '') subdomain(group, root.child('group'), errors);
  else if (version !== 'v1') errors.required(root.child('group'), 'only v1 may have an empty group and it better be legacy kube');
  report(errors, root.child('version'), version, dns1035Label(version));
  priority(groupPriorityMinimum, MAX_GROUP_PRIORITY, 'groupPriorityMinimum', errors);
  priority(versionPriority, MAX_VERSION_PRIORITY, 'versionPriority', errors);
  validateServer(service, errors);
}

function priority(value: number, most: number, field: string, errors: FieldErrors): void {
  if (value <= 0 || value > most) errors.invalid(root.child(field), value, `must be positive and less than ${most}`);
}

/** The server of the group version: this one, which needs no TLS settings, or that of a service. */
function validateServer({ spec }: APIService, errors: FieldErrors): void {
  const { service, caBundle, insecureSkipTLSVerify = false } = spec;
  const insecure = root.child('insecureSkipTLSVerify');
  if (service === undefined) {
    const size = Buffer.from(caBundle ?? '', 'base64').length;
    if (size > 0) errors.invalid(root.child('caBundle'), `${size} bytes`, 'local APIServices may not have a caBundle');
    if (insecureSkipTLSVerify) errors.invalid(insecure, true, 'local APIServices may not have insecureSkipTLSVerify');
    return;
  }
  const at = root.child('service');
  if ((service.namespace ?? '') === '') errors.required(at.child('namespace'));
  if ((service.name ?? '') === '') errors.required(at.child('name'));
  validateServicePort(service.port ?? 0, at.child('port'), errors);
  if (insecureSkipTLSVerify && (caBundle ?? '') !== '') errors.invalid(insecure, true, 'may not be true if caBundle is present');
}

function validateUpdate(service: APIService, old: APIService, errors: FieldErrors, env: KindEnv): void {
  metadataUpdateAgain(service, old, errors, env);
  metadataAgain(service, { namespaced: false, nameRule: pathSegmentName }, errors, env);
  validate(service, errors);
}

function validateStatus(service: APIService, old: APIService, errors: FieldErrors, env: KindEnv): void {
  metadataUpdateAgain(service, old, errors, env);
  each(service.status.conditions, Path.of('status', 'conditions'), (condition, at) => {
    if (!statuses.includes(condition.status)) errors.notSupported(at.child('status'), condition.status, statuses);
  });
}

/** A group version that this server itself serves. */
const local = (now: number): APIServiceCondition => ({
  type: 'Available',
  status: 'True',
  lastTransitionTime: formatTime(now),
  reason: 'Local',
  message: 'Local APIServices are always available',
});

/** `True`, or why not: `False (MissingEndpoints)`. */
function availableCell({ status }: APIService): string {
  const available = status.conditions?.find(({ type }) => type === 'Available');
  if (available === undefined) return 'Unknown';
  const { status: now, reason = '' } = available;
  return now === 'True' || reason === '' ? now : `${now} (${reason})`;
}

export const APIServiceKind = kind<APIService>({
  group: 'apiregistration',
  kind: 'APIService',
  plural: 'apiservices',
  categories: ['api-extensions'],
  scope: 'Cluster',
  versions: { v1: { schema: APIService } },
  hub: 'v1',
  nameRule: pathSegmentName,
  updateNeedsVersion: true,
  strategy: {
    prepareForCreate: (service, env) => {
      service.status = service.spec.service === undefined ? { conditions: [local(env.now())] } : {};
    },
    prepareForUpdate: (service, old) => {
      service.status = old.status;
    },
    validate,
    validateUpdate,
    resetFields: [['status']],
  },
  subresources: {
    status: status({
      prepareForUpdate: (service, old) => {
        service.spec = old.spec;
      },
      validateUpdate: validateStatus,
      resetFields: [['spec']],
    }),
  },
  columns: [
    nameColumn,
    { name: 'Service', type: 'string', description: 'The service that answers for the group version, or Local.' },
    { name: 'Available', type: 'string', description: 'Whether the group version can be reached.' },
    ageColumn,
  ],
  cells: (service, env) => [
    nameCell(service),
    service.spec.service === undefined ? 'Local' : `${service.spec.service.namespace}/${service.spec.service.name}`,
    availableCell(service),
    ageCell(service, env),
  ],
});
