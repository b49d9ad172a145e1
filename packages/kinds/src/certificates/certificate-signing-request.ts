/** Certificate signing requests. */
import { humanDuration } from '@plat-dev/meta/age';
import { pathSegmentName } from '@plat-dev/meta/names';
import { formatTime } from '@plat-dev/meta/time';
import type { User } from '@plat-dev/meta/user';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind } from '../kind.ts';
import { objectSubresource, status } from '../subresources.ts';
import { CertificateSigningRequest } from './schema/v1.ts';
import { validateRequest, validateRequestUpdate } from './validate-request.ts';

/** Records the requesting user, whatever the body says. */
function stamp({ spec }: CertificateSigningRequest, user: User): void {
  const { name, uid = '', groups, extra = {} } = user;
  spec.username = name;
  spec.uid = uid;
  spec.groups = [...groups];
  spec.extra = Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
  if (uid === '') delete spec.uid;
  if (groups.length === 0) delete spec.groups;
  if (Object.keys(extra).length === 0) delete spec.extra;
}

/** Sets the times of conditions; one with an unchanged status keeps its time. */
function stampConditions(request: CertificateSigningRequest, old: CertificateSigningRequest, env: KindEnv): void {
  const now = formatTime(env.now());
  const words = ({ type, status }: { type: string; status: string }): string => JSON.stringify([type, status]);
  // Of several with the same status the first counts.
  const oldByWords = new Map([...(old.status.conditions ?? [])].reverse().map((condition) => [words(condition), condition]));
  for (const condition of request.status.conditions ?? []) {
    condition.lastUpdateTime ??= now;
    const oldCondition = oldByWords.get(words(condition));
    condition.lastTransitionTime ??= oldCondition?.lastTransitionTime ?? now;
  }
}

/**
 * An update of the status may repeat approval decisions but not change them: if their number is the same they are replaced by
 * the stored ones; otherwise they are kept, and validation refuses them.
 */
function keepDecisions(request: CertificateSigningRequest, old: CertificateSigningRequest, type: string): void {
  const { conditions = [] } = request.status;
  const oldDecisions = (old.status.conditions ?? []).filter((condition) => condition.type === type);
  if (oldDecisions.length === 0 || conditions.filter((condition) => condition.type === type).length !== oldDecisions.length) return;
  let next = 0;
  request.status.conditions = conditions.map((condition) => (condition.type === type ? (oldDecisions[next++] ?? condition) : condition));
}

/** `Approved,Issued` */
function conditionCell({ status }: CertificateSigningRequest): string {
  const has = (conditionType: string): boolean => (status.conditions ?? []).some(({ type }) => type === conditionType);
  const words = [has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'];
  if (has('Failed')) words.push('Failed');
  if (status.certificate !== undefined) words.push('Issued');
  return words.join(',');
}

export const CertificateSigningRequestKind = kind<CertificateSigningRequest>({
  group: 'certificates',
  kind: 'CertificateSigningRequest',
  plural: 'certificatesigningrequests',
  short: ['csr'],
  scope: 'Cluster',
  versions: { v1: { schema: CertificateSigningRequest } },
  hub: 'v1',
  nameRule: pathSegmentName,
  strategy: {
    prepareForCreate(request, _env, { user }) {
      stamp(request, user);
      request.status = {};
    },
    prepareForUpdate(request, old) {
      request.spec = old.spec;
      request.status = old.status;
    },
    validate: validateRequest,
    validateUpdate: validateRequestUpdate({}),
    resetFields: [['spec'], ['status']],
  },
  subresources: {
    approval: objectSubresource({
      prepareForUpdate(request, old, env) {
        request.spec = old.spec;
        const { conditions } = request.status;
        request.status = { ...old.status, conditions: conditions ?? [] };
        if (conditions === undefined) delete request.status.conditions;
        stampConditions(request, old, env);
      },
      validateUpdate: validateRequestUpdate({ decide: true }),
      resetFields: [['spec'], ['status', 'certificate']],
    }),
    status: status({
      prepareForUpdate(request, old, env) {
        request.spec = old.spec;
        for (const type of ['Approved', 'Denied']) keepDecisions(request, old, type);
        stampConditions(request, old, env);
      },
      validateUpdate: validateRequestUpdate({ issue: true }),
      resetFields: [['spec'], ['status', 'conditions']],
    }),
  },
  fields: { 'spec.signerName': ({ spec }) => spec.signerName },
  columns: [
    nameColumn,
    ageColumn,
    { name: 'SignerName', type: 'string', description: 'The requested signer.' },
    { name: 'Requestor', type: 'string', description: 'Who made the request.' },
    { name: 'RequestedDuration', type: 'string', description: 'How long the certificate is to be valid.' },
    {
      name: 'Condition',
      type: 'string',
      description: 'Whether the request is pending, approved, denied or failed, and whether a certificate was issued.',
    },
  ],
  cells: (request, env) => [
    nameCell(request),
    ageCell(request, env),
    request.spec.signerName === '' ? '<none>' : request.spec.signerName,
    request.spec.username ?? '',
    request.spec.expirationSeconds === undefined ? '<none>' : humanDuration(request.spec.expirationSeconds * 1000),
    conditionCell(request),
  ],
});
