/**
 * ServiceAccount: every pod gets an account of its namespace, a mounted token for it, and the
 * pull secrets of the account.
 */

import type { ServiceAccount } from '@plat-dev/kinds/core/schema/config';
import type { Container } from '@plat-dev/kinds/core/schema/pods/containers';
import type { Pod, PodSpec } from '@plat-dev/kinds/core/schema/pods/pod';
import type { Volume } from '@plat-dev/kinds/core/schema/volumes/volumes';
import type { LiveView } from '@plat-dev/kinds/live-view';
import type { Clock } from '@plat-dev/lib/clock';
import { type MaybePromise, whenReady } from '@plat-dev/lib/when-ready';
import { domainName, type Identity, shortWord } from '@plat-dev/meta/identity';
import { generateName } from '@plat-dev/meta/names';
import { kinds, type MakePlugin } from '../../plugin.ts';
import { secretNames } from '../../pods.ts';
import { refusal } from '../../refusal.ts';
import type { AdmissionRequest } from '../../types.ts';
import { forbiddenSecret } from './service-account-secrets.ts';

/** How long to wait for the default account: pods may be created right after their namespace. */
const DEFAULT_ACCOUNT_WAIT_MS = 1500;
/** An hour, and a little more, by which the tokens of pods can be distinguished from others. */
const TOKEN_SECONDS = 3607;
const FILE_MODE = 0o644;

export const serviceAccount: MakePlugin = ({ identity, live, clock, randomBelow }) => {
  const accounts = live<ServiceAccount>('', 'serviceaccounts');
  const mirror = domainName(identity, 'config.mirror');
  const enforce = domainName(identity, 'enforce-mountable-secrets');
  const isMirror = (pod: Pod): boolean => pod.metadata.annotations?.[mirror] !== undefined;

  const complete = (pod: Pod, account: ServiceAccount): void => {
    const { spec } = pod;
    if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(spec, identity, randomBelow);
    if ((spec.imagePullSecrets ?? []).length === 0 && (account.imagePullSecrets ?? []).length > 0)
      spec.imagePullSecrets = (account.imagePullSecrets ?? []).map((reference) => ({ ...reference }));
  };
  const checkSecrets = (request: AdmissionRequest, spec: PodSpec, account: ServiceAccount): void => {
    if (account.metadata.annotations?.[enforce] !== 'true') return;
    const wrong = forbiddenSecret(spec, account, request.subresource === '' ? 'pod' : 'ephemeral');
    if (wrong !== undefined) throw refusal(request, wrong);
  };
  const lookUp = (request: AdmissionRequest, name: string): MaybePromise<ServiceAccount> =>
    whenReady(accounts.look(request.namespace, name), () => find(request, name));
  const find = (request: AdmissionRequest, name: string): MaybePromise<ServiceAccount> => {
    const account = accounts.get(request.namespace, name);
    if (account !== undefined) return account;
    const error = refusal(
      request,
      `error looking up service account ${request.namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
    );
    if (name !== 'default') throw error;
    return appears(accounts, clock, request.namespace, name).then((appeared) => {
      if (appeared === undefined) throw error;
      return appeared;
    });
  };

  return {
    name: 'ServiceAccount',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    concerns: kinds('pods'),
    admit(request) {
      if (request.operation !== 'CREATE' || request.subresource !== '') return;
      const pod = request.object as unknown as Pod;
      if (isMirror(pod)) return checkMirror(request, pod);
      const name = pod.spec.serviceAccountName ?? pod.spec.serviceAccount ?? 'default';
      pod.spec.serviceAccountName = name;
      pod.spec.serviceAccount = name;
      return whenReady(lookUp(request, name), (account) => complete(pod, account));
    },
    validate(request) {
      const { operation, subresource } = request;
      const pod = request.object as unknown as Pod;
      const debugging = operation === 'UPDATE' && subresource === 'ephemeralcontainers';
      if (!debugging && (operation !== 'CREATE' || subresource !== '')) return;
      if (isMirror(pod)) return debugging ? undefined : checkMirror(request, pod);
      const name = pod.spec.serviceAccountName ?? '';
      if (name === '') {
        if (debugging) return;
        throw refusal(request, `no service account specified for pod ${request.namespace}/${pod.metadata.name ?? ''}`);
      }
      return whenReady(lookUp(request, name), (account) => checkSecrets(request, pod.spec, account));
    },
  };
};

/** Waits until an object exists, for a bounded time. */
function appears(accounts: LiveView<ServiceAccount>, clock: Clock, namespace: string, name: string): Promise<ServiceAccount | undefined> {
  return new Promise((resolve) => {
    const finish = (serviceAccount: ServiceAccount | undefined): void => {
      stop();
      cancel();
      resolve(serviceAccount);
    };
    const stop = accounts.onChange(({ type, object }) => {
      if (type !== 'deleted' && object.metadata.namespace === namespace && object.metadata.name === name) finish(object);
    });
    const cancel = clock.after(DEFAULT_ACCOUNT_WAIT_MS, () => finish(accounts.get(namespace, name)));
  });
}

/** A mirror pod represents a running one, so that nothing is added to it; it must not refer to API objects either. */
function checkMirror(request: AdmissionRequest, { spec }: Pod): void {
  if ((spec.serviceAccountName ?? '') !== '') throw refusal(request, 'a mirror pod may not reference service accounts');
  if (secretNames(spec).size > 0) throw refusal(request, 'a mirror pod may not reference secrets');
  for (const volume of spec.volumes ?? [])
    if (volume.projected?.sources?.some((source) => source.serviceAccountToken !== undefined))
      throw refusal(request, 'a mirror pod may not use ServiceAccountToken volume projections');
}

function mountToken(spec: PodSpec, identity: Identity, randomBelow: (limit: number) => number): void {
  const prefix = `${shortWord(identity)}-api-access-`;
  const mountPath = `/var/run/secrets/${identity.domain}/serviceaccount`;
  const existing = spec.volumes?.find((volume) => volume.name.startsWith(prefix));
  const name = existing?.name ?? generateName(prefix, randomBelow);
  let isTokenNeeded = false;
  const mount = (container: Container): void => {
    if (container.volumeMounts?.some((one) => one.mountPath === mountPath)) return;
    container.volumeMounts = [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }];
    isTokenNeeded = true;
  };
  spec.initContainers?.forEach(mount);
  spec.containers?.forEach(mount);
  if (isTokenNeeded && existing === undefined) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name, identity)];
}

const tokenVolume = (name: string, identity: Identity): Volume => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
      { configMap: { name: identity.rootCAConfigMap, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
    ],
    defaultMode: FILE_MODE,
  },
});
