/** Claims for the administration of devices are only for namespaces that are marked for it. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import type { ResourceClaim, ResourceClaimTemplate } from '@plat-dev/kinds/resource/schema/claims';
import { own } from '@plat-dev/lib/own';
import { invalid } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { domainName, groupName, type Identity } from '@plat-dev/meta/identity';
import type { Hook } from './hooks.ts';

/** The labels of a namespace. */
type LabelsOf = (namespace: string) => Readonly<Record<string, string>> | undefined;

interface AdminRequest {
  readonly kind: string;
  readonly at: Path;
}

const flagged = (list: readonly { adminAccess?: boolean }[]): number => list.findIndex(({ adminAccess }) => adminAccess === true);

/** Where a new claim or template asks for it, or a new allocation grants it. */
function requestIn(object: ApiObject, old: ApiObject | undefined): AdminRequest | undefined {
  const { kind = '' } = object;
  if (old === undefined) {
    const { spec } = object as ResourceClaim | ResourceClaimTemplate;
    const { devices } = 'spec' in spec ? spec.spec : spec;
    const i = flagged((devices.requests ?? []).map(({ exactly }) => exactly ?? {}));
    return i < 0 ? undefined : { kind, at: Path.of('spec', 'devices', 'requests').index(i).child('adminAccess') };
  }
  const results = ({ status }: ResourceClaim) => status?.allocation?.devices.results ?? [];
  if (kind !== 'ResourceClaim' || flagged(results(old as ResourceClaim)) >= 0) return undefined;
  const i = flagged(results(object as ResourceClaim));
  return i < 0 ? undefined : { kind, at: Path.of('status', 'allocation', 'devices', 'results').index(i).child('adminAccess') };
}

export function adminAccessHook(identity: Identity, labelsOf: LabelsOf): Hook {
  const label = domainName(identity, 'admin-access', 'resource');
  return async ({ object, old }) => {
    const request = object === undefined ? undefined : requestIn(object, old);
    if (object === undefined || request === undefined) return;
    const { name = '', namespace = '' } = object.metadata;
    if (own(labelsOf(namespace), label) === 'true') return;
    const errors = new FieldErrors();
    errors.forbidden(request.at, `admin access to devices requires the \`${label}: true\` label on the containing namespace`);
    throw invalid({ group: groupName(identity, 'resource'), resource: request.kind }, name, errors.list);
  };
}
