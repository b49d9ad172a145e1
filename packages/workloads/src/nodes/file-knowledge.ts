/**
 * Which files of a container are known, so that one that is not there is missing for sure:
 *
 *   a volume of a config map or secret            known, as the API has it
 *   an empty directory that no other container has   known, as the command leaves it
 *   other volumes                                 not known: others may have written there
 *   the image                                     not known, but for what every image has (images.ts)
 */
import type { WorkloadPod } from '../shared/pods.ts';
import type { Container } from './container-command.ts';
import { isKnownPath } from './images.ts';
import { isWithin, type Knowledge, normal, PATH_LIMIT } from './shell/files.ts';

type Volume = NonNullable<NonNullable<WorkloadPod['spec']>['volumes']>[number];

/** Mounts of a container that are looked at; nothing is known of a container with more. */
const MOUNTS_LIMIT = 64;

export function knowledgeOf(pod: WorkloadPod, container: Container): Knowledge {
  const mounts = container.volumeMounts ?? [];
  if (mounts.length > MOUNTS_LIMIT || mounts.some(({ mountPath }) => mountPath.length > PATH_LIMIT)) return () => false;
  const places = mounts
    .map(({ name, mountPath }) => ({ path: normal(mountPath), isKnown: isVolumeKnown(pod, name) }))
    .sort((a, b) => b.path.length - a.path.length);
  return (path) => places.find((place) => isWithin(path, place.path))?.isKnown ?? isKnownPath(container.image ?? '', path);
}

function isVolumeKnown({ spec }: WorkloadPod, name: string): boolean {
  const volume = spec?.volumes?.find((one) => one.name === name);
  if (volume === undefined) return false;
  if (volume.emptyDir == null) return isFromObjects(volume) && !hasToken(volume);
  const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return all.filter(({ volumeMounts }) => volumeMounts?.some((mount) => mount.name === name)).length === 1;
}

/** Whether the files of a volume are those of objects of the API. */
export const isFromObjects = ({ configMap, secret, downwardAPI, projected }: Volume): boolean =>
  configMap != null || secret != null || downwardAPI != null || projected != null;

/** Whether a volume has the token of a service account, as one of every pod does. */
export const hasToken = ({ projected }: Volume): boolean =>
  projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken != null) === true;
