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
const MIN_PERIOD = 10;
const MIN_EXPIRATION = 600;
const MAX_EXPIRATION = 2 ** 32;

const hasMountPolicy = (env: KindEnv): boolean => env.since('1.25') && env.feature('SELinuxMountReadWriteOncePod');
const hasScalingLimit = (env: KindEnv): boolean => env.since('1.36') && env.feature('VolumeLimitScaling');

function defaults({ spec }: CSIDriver, env: KindEnv): void {
  if ((spec.volumeLifecycleModes ?? []).length === 0 && env.feature('CSIInlineVolume')) spec.volumeLifecycleModes = ['Persistent'];
  if (hasMountPolicy(env)) spec.seLinuxMount ??= false;
  if (hasScalingLimit(env)) spec.preventPodSchedulingIfMissing ??= false;
}

function validateSpec(spec: CSIDriverSpec, errors: FieldErrors, env: KindEnv): void {
  if (spec.attachRequired === undefined) errors.required(specPath.child('attachedRequired'));
  if (spec.podInfoOnMount === undefined) errors.required(specPath.child('podInfoOnMount'));
  if (spec.storageCapacity === undefined) errors.required(specPath.child('storageCapacity'));
  if (spec.fsGroupPolicy !== undefined && !groupPolicies.includes(spec.fsGroupPolicy))
    errors.notSupported(specPath.child('fsGroupPolicy'), spec.fsGroupPolicy, groupPolicies);
  validateTokenRequests(spec.tokenRequests ?? [], errors);
  for (const mode of spec.volumeLifecycleModes ?? [])
    if (!lifecycleModes.includes(mode)) errors.notSupported(specPath.child('volumeLifecycleModes'), mode, lifecycleModes);
  if (spec.seLinuxMount === undefined && env.since('1.27') && hasMountPolicy(env)) errors.required(specPath.child('seLinuxMount'));
  const { nodeAllocatableUpdatePeriodSeconds: period, serviceAccountTokenInSecrets: inSecrets } = spec;
  if (period !== undefined && period < MIN_PERIOD)
    errors.invalid(specPath.child('nodeAllocatableUpdatePeriodSeconds'), period, `must be greater than or equal to ${MIN_PERIOD} seconds`);
  if (inSecrets !== undefined && (spec.tokenRequests ?? []).length === 0)
    errors.invalid(
      specPath.child('serviceAccountTokenInSecrets'),
      inSecrets,
      'serviceAccountTokenInSecrets is set but no tokenRequests are specified',
    );
  if (spec.preventPodSchedulingIfMissing === undefined && hasScalingLimit(env))
    errors.required(specPath.child('preventPodSchedulingIfMissing'));
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
  validateSpec(spec, errors, env);
  immutable(spec.attachRequired, old.attachRequired, specPath.child('attachedRequired'), errors);
  if (!env.since('1.30')) {
    immutable(spec.fsGroupPolicy, old.fsGroupPolicy, specPath.child('fsGroupPolicy'), errors);
    immutable(spec.podInfoOnMount, old.podInfoOnMount, specPath.child('podInfoOnMount'), errors);
  }
  immutable(spec.volumeLifecycleModes, old.volumeLifecycleModes, specPath.child('volumeLifecycleModes'), errors, () =>
    goList('storage.VolumeLifecycleMode', spec.volumeLifecycleModes),
  );
  if (!env.since('1.30')) validateTokenRequests(spec.tokenRequests ?? [], errors);
}

function warnings({ spec }: CSIDriver, old: CSIDriver | undefined, env: KindEnv): string[] {
  if (!env.since('1.35') || !env.feature('CSIServiceAccountTokenSecrets')) return [];
  const { tokenRequests = [], serviceAccountTokenInSecrets } = spec;
  if (tokenRequests.length === 0 || serviceAccountTokenInSecrets !== undefined) return [];
  if (old !== undefined && equal(tokenRequests, old.spec.tokenRequests)) return [];
  return [
    'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes',
  ];
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
    // The generation is unset before the first change; up to 1.29 only changes of two fields count.
    prepareForUpdate: (driver, old, env) => {
      const sameTokens = equal(driver.spec.tokenRequests, old.spec.tokenRequests);
      const isSame = env.since('1.30')
        ? equal(driver.spec, old.spec)
        : sameTokens && driver.spec.requiresRepublish === old.spec.requiresRepublish;
      if (!isSame) driver.metadata.generation = nextGeneration(old.metadata.generation);
    },
    validate: ({ spec }, errors, env) => validateSpec(spec, errors, env),
    validateUpdate,
    warnings,
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
