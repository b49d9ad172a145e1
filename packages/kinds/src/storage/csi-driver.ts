/** Storage drivers of the cluster. */

import { equal } from '@plat-dev/lib/equal';
import { ageAt } from '@plat-dev/meta/age';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { ageColumn, nameColumn } from '../columns.ts';
import { nextGeneration } from '../generation.ts';
import { type KindEnv, kind } from '../kind.ts';
import { each } from '../validation/each.ts';
import { immutable } from '../validation/field-checks.ts';
import { goList } from '../validation/go-list.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { CSIDriver, type CSIDriverSpec, type TokenRequest } from './schema/v1.ts';

const specPath = Path.of('spec');
const groupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType'];
const lifecycleModes = ['Persistent', 'Ephemeral'];
const MIN_EXPIRATION = 600;
const MAX_EXPIRATION = 2 ** 32;

function defaults({ spec }: CSIDriver, env: KindEnv): void {
  if ((spec.volumeLifecycleModes ?? []).length === 0 && env.feature('CSIInlineVolume')) spec.volumeLifecycleModes = ['Persistent'];
}

function validateSpec(spec: CSIDriverSpec, errors: FieldErrors): void {
  if (spec.attachRequired === undefined) errors.required(specPath.child('attachedRequired'));
  if (spec.podInfoOnMount === undefined) errors.required(specPath.child('podInfoOnMount'));
  if (spec.storageCapacity === undefined) errors.required(specPath.child('storageCapacity'));
  if (spec.fsGroupPolicy !== undefined && !groupPolicies.includes(spec.fsGroupPolicy))
    errors.notSupported(specPath.child('fsGroupPolicy'), spec.fsGroupPolicy, groupPolicies);
  validateTokenRequests(spec.tokenRequests ?? [], errors);
  for (const mode of spec.volumeLifecycleModes ?? [])
    if (!lifecycleModes.includes(mode)) errors.notSupported(specPath.child('volumeLifecycleModes'), mode, lifecycleModes);
}

function validateTokenRequests(requests: readonly TokenRequest[], errors: FieldErrors): void {
  const audiences = new Set<string>();
  each(requests, specPath.child('tokenRequests'), ({ audience, expirationSeconds: seconds }, at) => {
    if (audiences.has(audience)) errors.duplicate(at.child('audience'), audience);
    if (audiences.has(audience) || seconds === undefined) {
      audiences.add(audience);
      return;
    }
    audiences.add(audience);
    if (seconds < MIN_EXPIRATION) errors.invalid(at.child('expirationSeconds'), seconds, 'may not specify a duration less than 10 minutes');
    if (seconds > MAX_EXPIRATION)
      errors.invalid(at.child('expirationSeconds'), seconds, 'may not specify a duration larger than 2^32 seconds');
  });
}

function validateUpdate(driver: CSIDriver, oldDriver: CSIDriver, errors: FieldErrors, env: KindEnv): void {
  metadataUpdateAgain(driver, oldDriver, errors, env);
  const { spec } = driver;
  const { spec: old } = oldDriver;
  validateSpec(spec, errors);
  immutable(spec.attachRequired, old.attachRequired, specPath.child('attachedRequired'), errors);
  immutable(spec.fsGroupPolicy, old.fsGroupPolicy, specPath.child('fsGroupPolicy'), errors);
  immutable(spec.podInfoOnMount, old.podInfoOnMount, specPath.child('podInfoOnMount'), errors);
  immutable(spec.volumeLifecycleModes, old.volumeLifecycleModes, specPath.child('volumeLifecycleModes'), errors, () =>
    goList('storage.VolumeLifecycleMode', spec.volumeLifecycleModes),
  );
  validateTokenRequests(spec.tokenRequests ?? [], errors);
}

export const CSIDriverKind = kind<CSIDriver>({
  group: 'storage',
  kind: 'CSIDriver',
  plural: 'csidrivers',
  scope: 'Cluster',
  versions: { v1: { schema: CSIDriver, defaults } },
  hub: 'v1',
  updateNeedsVersion: true,
  deleteReturnsObject: true,
  strategy: {
    // Only changes of these fields count for the generation, which is unset before the first.
    prepareForUpdate: (driver, old) => {
      if (!equal(driver.spec.tokenRequests, old.spec.tokenRequests) || driver.spec.requiresRepublish !== old.spec.requiresRepublish)
        driver.metadata.generation = nextGeneration(old.metadata.generation);
    },
    validate: ({ spec }, errors) => validateSpec(spec, errors),
    validateUpdate,
  },
  columns: [
    nameColumn,
    {
      name: 'AttachRequired',
      type: 'boolean',
      description: 'Whether volumes of the driver must be attached to a node before they are mounted.',
    },
    { name: 'PodInfoOnMount', type: 'boolean', description: 'Whether the driver gets information about the pod when it mounts a volume.' },
    {
      name: 'StorageCapacity',
      type: 'boolean',
      description: 'Whether pods are placed with regard to the capacity that the driver reports.',
    },
    { name: 'TokenRequests', type: 'string', description: 'The audiences of service account tokens that the driver wants.' },
    { name: 'RequiresRepublish', type: 'boolean', description: 'Whether volumes are published again and again while they are mounted.' },
    { name: 'Modes', type: 'string', description: 'The kinds of volumes that the driver supports.' },
    ageColumn,
  ],
  cells: ({ metadata, spec }, env) => [
    metadata.name ?? '',
    spec.attachRequired ?? true,
    spec.podInfoOnMount ?? false,
    spec.storageCapacity ?? false,
    spec.tokenRequests?.map(({ audience }) => audience).join(',') ?? '<unset>',
    spec.requiresRepublish ?? false,
    spec.volumeLifecycleModes?.join(',') || '<none>',
    ageAt(env.now(), metadata.creationTimestamp),
  ],
});
