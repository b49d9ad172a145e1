/** Pods in a user namespace of their own: what they may not share with the node. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import type { PodSpec } from '../../core/schema/pods/pod.ts';
import type { Volume } from '../../core/schema/volumes/volumes.ts';
import type { KindEnv } from '../../kind.ts';
import { eachContainer } from './each-container.ts';

/** What is stored may stay: no gate of its own, but a rule of pod-gates.ts says when an update may keep it. */
export const devicesInUserNamespace = 'devicesInUserNamespace';

/** Volumes whose files could belong to the users of a pod before 1.28. */
const ownedVolumes = ['configMap', 'downwardAPI', 'emptyDir', 'projected', 'secret'] as const;
const isOwned = (volume: Volume): boolean => ownedVolumes.some((source) => volume[source] !== undefined);

export function validateHostUsers(spec: PodSpec, at: Path, errors: FieldErrors, env: KindEnv): void {
  const field = env.since('1.34') ? 'hostUsers' : 'pod.Spec.HostUsers';
  const detail = `when \`${field}\` is false`;
  if (!env.since('1.28'))
    spec.volumes?.forEach((volume, i) => {
      if (!isOwned(volume)) errors.forbidden(at.child('volumes').index(i), `volume type not supported ${detail}`);
    });
  if (spec.hostNetwork && !env.feature('UserNamespacesHostNetworkSupport')) errors.forbidden(at.child('hostNetwork'), detail);
  if (spec.hostPID) errors.forbidden(at.child('HostPID'), detail);
  if (spec.hostIPC) errors.forbidden(at.child('HostIPC'), detail);
  if (!env.since('1.34') || env.feature(devicesInUserNamespace)) return;
  eachContainer(spec, at, ({ volumeDevices = [] }, here) => {
    if (volumeDevices.length > 0) errors.forbidden(here.child('volumeDevices'), detail);
  });
}
