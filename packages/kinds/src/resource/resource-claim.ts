/** Claims of devices. */
import { Path } from '@plat-dev/meta/field';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind, version } from '../kind.ts';
import { keepMetadata, status } from '../subresources.ts';
import { immutable } from '../validation/field-checks.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { claimFromHub, claimToHub, fillFlatRequests } from './conversion.ts';
import { fillRequests, validateDeviceClaim } from './request-rules.ts';
import { ResourceClaim } from './schema/claims.ts';
import * as v1beta1 from './schema/v1beta1.ts';
import * as v1beta2 from './schema/v1beta2.ts';
import { dropFreedDevices, validateClaimStatus } from './status-rules.ts';

const specAt = Path.of('spec');
const defaults = ({ spec }: ResourceClaim): void => fillRequests(spec.devices);

/** `allocated,reserved` */
function stateCell({ metadata, status: { allocation, reservedFor = [] } }: ResourceClaim): string {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const states = isDeleted ? ['deleted'] : [];
  if (allocation !== undefined) states.push('allocated');
  else if (!isDeleted) states.push('pending');
  if (allocation !== undefined && reservedFor.length > 0) states.push('reserved');
  return states.join(',');
}

export const ResourceClaimKind = kind<ResourceClaim>({
  group: 'resource',
  kind: 'ResourceClaim',
  plural: 'resourceclaims',
  scope: 'Namespaced',
  versions: {
    v1: version({ schema: ResourceClaim, defaults }),
    v1beta2: version({ schema: v1beta2.ResourceClaim, defaults }),
    v1beta1: version<v1beta1.ResourceClaim, ResourceClaim>({
      schema: v1beta1.ResourceClaim,
      defaults: ({ spec }) => fillFlatRequests(spec),
      toHub: claimToHub,
      fromHub: claimFromHub,
    }),
  },
  hub: 'v1',
  deleteReturnsObject: true,
  strategy: {
    prepareForCreate: (claim) => {
      claim.status = {};
    },
    prepareForUpdate: (claim, old) => {
      claim.status = old.status;
    },
    validate: ({ spec }, errors, env) => validateDeviceClaim(spec.devices, specAt.child('devices'), errors, env),
    validateUpdate(claim, old, errors, env) {
      metadataAgain(claim, { namespaced: true }, errors, env);
      metadataUpdateAgain(claim, old, errors, env);
      immutable(claim.spec, old.spec, specAt, errors);
    },
    resetFields: [['status']],
  },
  subresources: {
    status: status({
      prepareForUpdate(claim, old) {
        keepMetadata(claim, old);
        claim.spec = old.spec;
        dropFreedDevices(claim, old);
      },
      validateUpdate(claim, old, errors, env) {
        metadataUpdateAgain(claim, old, errors, env);
        validateClaimStatus(claim, old, errors, env);
      },
      resetFields: [['metadata'], ['spec']],
    }),
  },
  columns: [
    nameColumn,
    { name: 'State', type: 'string', description: 'Whether the claim has devices, and whether somebody uses them.' },
    ageColumn,
  ],
  cells: (claim, env) => [nameCell(claim), stateCell(claim), ageCell(claim, env)],
});
