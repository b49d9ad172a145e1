/** Warnings of persistent volumes and claims: what is deprecated, or has no effect any more. */
import { Path } from '@plat-dev/meta/field';
import { domainName } from '@plat-dev/meta/identity';
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '../../core/schema/volumes/persistent-volume-claims.ts';
import type { PersistentVolume } from '../../core/schema/volumes/persistent-volumes.ts';
import type { KindEnv } from '../../kind.ts';
import { each } from '../each.ts';
import { podNames } from '../pods/pod-names.ts';
import { amount } from '../resources.ts';

const specPath = Path.of('spec');
const annotationsPath = Path.of('metadata', 'annotations');
const classMessage = 'deprecated since v1.8; use "storageClassName" attribute instead';

/** Sources that have become deprecated in a release, and do nothing since another. */
const oldSources = [
  ['cephfs', '1.28', '1.31'],
  ['photonPersistentDisk', '1.11', '1.16'],
  ['scaleIO', '1.16', '1.22'],
  ['storageos', '1.22', '1.25', 'storageOS'],
  ['glusterfs', '1.25', '1.26'],
  ['rbd', '1.28', '1.31'],
] as const;

export function volumeWarnings({ metadata, spec }: PersistentVolume, _old: PersistentVolume | undefined, env: KindEnv): string[] {
  if (!env.since('1.25')) return [];
  const warnings: string[] = [];
  const annotation = (name: string, message: string): void => {
    const key = domainName(env.identity, name, 'volume.beta');
    if (metadata.annotations?.[key] !== undefined) warnings.push(`${annotationsPath.key(key)}: ${message}`);
  };
  if (env.since('1.31')) {
    annotation('storage-class', classMessage);
    annotation('mount-options', 'deprecated since v1.31; use "mountOptions" attribute instead');
  }
  if (spec.persistentVolumeReclaimPolicy === 'Recycle' && env.since('1.30'))
    warnings.push(
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
    );
  const { oldNodeLabels } = podNames(env.identity);
  each(
    spec.nodeAffinity?.required?.nodeSelectorTerms,
    specPath.child('nodeAffinity').child('required').child('nodeSelectorTerms'),
    (term, at) => {
      each(term.matchExpressions, at.child('matchExpressions'), ({ key }, here) => {
        const message = oldNodeLabels.get(key);
        if (message !== undefined) warnings.push(`${here.child('key')}: ${key} is ${message}`);
      });
    },
  );
  if (env.since('1.28'))
    for (const [name, deprecated, gone, shown = name] of oldSources)
      if (spec[name] !== undefined) warnings.push(`${specPath.child(shown)}: deprecated in v${deprecated}, non-functional in v${gone}+`);
  return warnings;
}

export function claimWarnings({ metadata, spec }: PersistentVolumeClaim, _old: PersistentVolumeClaim | undefined, env: KindEnv): string[] {
  const key = domainName(env.identity, 'storage-class', 'volume.beta');
  const usesAnnotation = env.since('1.28') && metadata.annotations?.[key] !== undefined;
  return [...(usesAnnotation ? [`${annotationsPath.key(key)}: ${classMessage}`] : []), ...claimSpecWarnings(spec, specPath, env)];
}

/** Warnings of the spec alone, which stateful sets have as well. */
export function claimSpecWarnings({ resources }: PersistentVolumeClaimSpec, at: Path, env: KindEnv): string[] {
  if (!env.since('1.26')) return [];
  return (['requests', 'limits'] as const).flatMap((list) => {
    const text = resources[list]?.storage;
    if (text === undefined || amount(text).millis() % 1000n === 0n) return [];
    const path = at.child('resources').child(list).key('storage');
    return [`${path}: fractional byte value ${JSON.stringify(text)} is invalid, must be an integer`];
  });
}
