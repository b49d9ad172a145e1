/** Ranges that the addresses of services are taken from. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { canonicalCIDR, parseCIDR } from '@plat-dev/meta/ip';
import { immutableProblem } from '@plat-dev/meta/names';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind } from '../kind.ts';
import { keepMetadata, status } from '../subresources.ts';
import { each } from '../validation/each.ts';
import { report } from '../validation/field-checks.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { olderRange, ServiceCIDR } from './schema/service-addresses.ts';

const at = Path.of('spec', 'cidrs');
const MOST_RANGES = 2;

function validateRanges({ spec }: ServiceCIDR, errors: FieldErrors): void {
  const cidrs = spec.cidrs ?? [];
  if (cidrs.length === 0) errors.required(at, 'at least one CIDR required');
  else if (cidrs.length > MOST_RANGES) errors.invalid(at, { CIDRs: cidrs }, `may only hold up to ${MOST_RANGES} values`);
  else {
    each(cidrs, at, (cidr, here) => report(errors, here, cidr, canonicalCIDR(cidr)));
    const [first, second] = cidrs.map((cidr) => parseCIDR(cidr)?.family);
    if (first !== undefined && first === second)
      errors.invalid(at, cidrs, 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64');
  }
}

/** Ranges stay as they are, but one of the other family may be added. */
function validateChange(range: ServiceCIDR, old: ServiceCIDR, errors: FieldErrors): void {
  const { cidrs = [] } = range.spec;
  const { cidrs: oldCidrs = [] } = old.spec;
  const grows = oldCidrs.length === 1 && cidrs.length === MOST_RANGES;
  if (cidrs.length !== oldCidrs.length && !grows) {
    errors.invalid(at, cidrs, immutableProblem);
    return;
  }
  each(oldCidrs, at, (cidr, here, i) => {
    if (cidr !== cidrs[i]) errors.invalid(here, cidrs[i], immutableProblem);
  });
  if (grows) validateRanges(range, errors);
}

/** Until release 1.35 every write could set the status. */
const keepsStatus = (env: KindEnv): boolean => env.since('1.36') && env.feature('ServiceCIDRStatusFieldWiping');

export const ServiceCIDRKind = kind<ServiceCIDR>({
  group: 'networking',
  kind: 'ServiceCIDR',
  plural: 'servicecidrs',
  scope: 'Cluster',
  versions: {
    v1: { schema: ServiceCIDR },
    v1beta1: { schema: olderRange('v1beta1') },
    v1alpha1: { schema: olderRange('v1alpha1') },
  },
  hub: 'v1',
  strategy: {
    prepareForCreate(range, env) {
      if (keepsStatus(env)) range.status = {};
    },
    prepareForUpdate(range, old, env) {
      if (keepsStatus(env)) range.status = old.status;
    },
    validate: validateRanges,
    validateUpdate(range, old, errors, env) {
      metadataUpdateAgain(range, old, errors, env);
      validateChange(range, old, errors);
    },
    resetFields: [['status']],
  },
  subresources: {
    status: status({
      prepareForUpdate(range, old) {
        keepMetadata(range, old);
        range.spec = old.spec;
      },
      validateUpdate: (range, old, errors, env) => metadataUpdateAgain(range, old, errors, env),
      resetFields: [['metadata'], ['spec']],
    }),
  },
  columns: [nameColumn, { name: 'CIDRs', type: 'string', description: 'The ranges of addresses, one for each family.' }, ageColumn],
  cells: (range, env) => [nameCell(range), (range.spec.cidrs ?? []).join(','), ageCell(range, env)],
});
