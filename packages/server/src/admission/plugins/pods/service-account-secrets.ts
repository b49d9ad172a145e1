/** An account may restrict the secrets of its pods to those it lists. */
import type { ServiceAccount } from '@plat-dev/kinds/core/schema/config';
import type { PodSpec } from '@plat-dev/kinds/core/schema/pods/pod';
import { type AnyContainer, eachContainer } from '../../pods.ts';

/** The part of a pod that refers to a secret which the account does not list; undefined: none does. */
export function forbiddenSecret(spec: PodSpec, account: ServiceAccount, what: 'pod' | 'ephemeral'): string | undefined {
  const mountable = new Set((account.secrets ?? []).map(({ name }) => name));
  const because = `is not allowed because service account ${account.metadata.name} does not reference that`;
  if (what === 'pod') {
    for (const { secret } of spec.volumes ?? [])
      if (secret !== undefined && !mountable.has(secret.secretName))
        return `volume with secret.secretName=${JSON.stringify(secret.secretName ?? '')} ${because} secret`;
  }
  let wrong: string | undefined;
  eachContainer(spec, (container, _path, type) => {
    if (what === 'ephemeral' && type !== 'ephemeral container') return;
    const secretName = wrong === undefined ? secretOf(container, mountable) : undefined;
    if (secretName !== undefined) wrong = `${type} ${container.name} with ${secretName} ${because} secret`;
  });
  if (wrong !== undefined || what === 'ephemeral') return wrong;
  const pullable = new Set((account.imagePullSecrets ?? []).map(({ name }) => name));
  const at = (spec.imagePullSecrets ?? []).findIndex(({ name }) => !pullable.has(name));
  if (at < 0) return undefined;
  return `imagePullSecrets[${at}].name=${JSON.stringify(spec.imagePullSecrets?.[at]?.name ?? '')} ${because} imagePullSecret`;
}

function secretOf(container: AnyContainer, allowed: ReadonlySet<string | undefined>): string | undefined {
  for (const { name, valueFrom } of container.env ?? []) {
    const reference = valueFrom?.secretKeyRef;
    if (reference !== undefined && !allowed.has(reference.name))
      return `envVar ${name} referencing secret.secretName=${JSON.stringify(reference.name ?? '')}`;
  }
  for (const { secretRef } of container.envFrom ?? [])
    if (secretRef !== undefined && !allowed.has(secretRef.name))
      return `envFrom referencing secret.secretName=${JSON.stringify(secretRef.name ?? '')}`;
  return undefined;
}
