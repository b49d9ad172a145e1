/** Seccomp profiles were annotations before they were fields; a new pod gets both forms. */
import { own, setOwn } from '@plat-dev/lib/own';
import type { KindEnv } from '../../kind.ts';
import { podNames } from '../../validation/pods/pod-names.ts';
import type { Pod } from '../schema/pods/pod.ts';
import type { SeccompProfile } from '../schema/pods/security-context.ts';

interface Holder {
  securityContext?: { seccompProfile?: SeccompProfile };
}

export function syncSeccomp(pod: Pod, env: KindEnv): void {
  const names = podNames(env.identity);
  const { spec } = pod;
  sync(pod, spec, names.seccompPod, '');
  for (const list of [spec.initContainers, spec.containers])
    for (const container of list ?? []) sync(pod, container, names.seccompContainer, container.name);
}

function sync(pod: Pod, holder: Holder, prefix: string, name: string): void {
  const profile = holder.securityContext?.seccompProfile;
  if (profile === undefined && pod.metadata.annotations === undefined) return;
  const key = prefix + name;
  const annotation = own(pod.metadata.annotations, key);
  if (profile !== undefined && annotation === undefined) {
    const text = asText(profile);
    if (text === undefined) return;
    pod.metadata.annotations ??= {};
    setOwn(pod.metadata.annotations, key, text);
  } else if (profile === undefined && annotation !== undefined) {
    const profile = asProfile(annotation);
    if (profile === undefined) return;
    holder.securityContext ??= {};
    holder.securityContext.seccompProfile = profile;
  }
}

const localhost = 'localhost/';

function asText({ type, localhostProfile }: SeccompProfile): string | undefined {
  if (type === 'Unconfined') return 'unconfined';
  if (type === 'RuntimeDefault') return 'runtime/default';
  return type === 'Localhost' && localhostProfile !== undefined ? localhost + localhostProfile : undefined;
}

function asProfile(text: string): SeccompProfile | undefined {
  if (text === 'unconfined') return { type: 'Unconfined' };
  if (text === 'runtime/default' || text === 'docker/default') return { type: 'RuntimeDefault' };
  if (!text.startsWith(localhost) || text.length === localhost.length) return undefined;
  return { type: 'Localhost', localhostProfile: text.slice(localhost.length) };
}
