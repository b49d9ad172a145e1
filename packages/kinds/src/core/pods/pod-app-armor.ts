/** AppArmor profiles were annotations before they were fields: a new pod whose annotation names a profile gets the field. */
import { own, setOwn } from '@plat-dev/lib/own';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import type { KindEnv, WriteRequest } from '../../kind.ts';
import { annotationOfProfile, profileOfAnnotation, validateAppArmorProfile } from '../../validation/pods/app-armor.ts';
import { podNames } from '../../validation/pods/pod-names.ts';
import type { Container } from '../schema/pods/containers.ts';
import type { Pod } from '../schema/pods/pod.ts';
import type { AppArmorProfile } from '../schema/pods/security-context.ts';

const annotationsAt = Path.of('metadata', 'annotations');

export function syncAppArmor(pod: Pod, env: KindEnv, request: WriteRequest): void {
  const { spec } = pod;
  if (!env.feature('AppArmorFields') || spec.os?.name === 'windows') return;
  const { appArmorContainer } = podNames(env.identity);
  const ofPod = spec.securityContext?.appArmorProfile;
  for (const list of [spec.initContainers, spec.containers]) {
    for (const container of list ?? []) {
      const key = appArmorContainer + container.name;
      const text = own(pod.metadata.annotations, key);
      const profile = container.securityContext?.appArmorProfile;
      if (text === undefined) {
        // Nodes of 1.30 to 1.33 may be older than the field.
        if (!env.since('1.34')) annotate(pod, key, profile ?? ofPod);
      } else if (profile === undefined && !agreesWithPod(container, text, ofPod)) {
        request.warn?.(`${annotationsAt.key(key)}: deprecated since v1.30; use the "appArmorProfile" field instead`);
      }
    }
  }
}

function annotate(pod: Pod, key: string, profile: AppArmorProfile | undefined): void {
  const text = profile === undefined ? undefined : annotationOfProfile(profile);
  if (text === undefined) return;
  pod.metadata.annotations ??= {};
  setOwn(pod.metadata.annotations, key, text);
}

/** Whether an annotation says what the field of the pod says. If it does not, and is valid, it becomes the field of the container. */
function agreesWithPod(container: Container, text: string, ofPod: AppArmorProfile | undefined): boolean {
  const profile = profileOfAnnotation(text);
  if (profile === undefined) return false;
  const errors = new FieldErrors();
  validateAppArmorProfile(profile, annotationsAt, errors);
  if (!errors.empty) return false;
  if (ofPod?.type === profile.type && ofPod.localhostProfile === profile.localhostProfile) return true;
  container.securityContext ??= {};
  container.securityContext.appArmorProfile = profile;
  return false;
}
