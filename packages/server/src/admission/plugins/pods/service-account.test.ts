import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import { expect, test } from 'vitest';
import { podOf, refusalOf, World } from '../../testing.ts';
import { serviceAccount } from './service-account.ts';

const account = (name: string, more: object = {}) => ({ metadata: { name, namespace: 'ns', ...more } });
const specOf = (request: { object: unknown }): Pod['spec'] => (request.object as Pod).spec;

async function start(...accounts: object[]) {
  const world = new World().with('serviceaccounts', ...accounts);
  return { world, plugin: await world.plugin(serviceAccount) };
}

test('a pod runs as the default account, with a token at the usual place', async () => {
  const { world, plugin } = await start(account('default'));
  const request = world.request('pods', podOf({ initContainers: [{ name: 'i' }] }));
  expect(await refusalOf(plugin, request)).toBeUndefined();
  const { serviceAccountName, serviceAccount: old, volumes, containers, initContainers } = specOf(request);
  expect([serviceAccountName, old]).toEqual(['default', 'default']);
  const name = volumes?.[0]?.name as string;
  expect(name).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
  const mount = { name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' };
  expect(containers?.[0]?.volumeMounts).toEqual([mount]);
  expect(initContainers?.[0]?.volumeMounts).toEqual([mount]);
  expect(volumes?.[0]?.projected?.sources?.map((source) => Object.keys(source)[0])).toEqual([
    'serviceAccountToken',
    'configMap',
    'downwardAPI',
  ]);
});

test('another run changes nothing more', async () => {
  const { world, plugin } = await start(account('default'));
  const request = world.request('pods', podOf());
  await refusalOf(plugin, request);
  const first = structuredClone(request.object);
  await refusalOf(plugin, request);
  expect(request.object).toEqual(first);
});

test('a container that mounts something there already gets no token', async () => {
  const { world, plugin } = await start(account('default'));
  const own = { name: 'own', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' };
  const request = world.request(
    'pods',
    podOf({ containers: [{ name: 'c', volumeMounts: [own] }], volumes: [{ name: 'own', emptyDir: {} }] }),
  );
  await refusalOf(plugin, request);
  expect(specOf(request).volumes).toHaveLength(1);
});

test.each([
  [{}, {}, true],
  [{ automountServiceAccountToken: false }, {}, false],
  [{}, { automountServiceAccountToken: false }, false],
  [{ automountServiceAccountToken: true }, { automountServiceAccountToken: false }, true],
])('a pod that says %j, of an account that says %j, mounts: %s', async (pod, ofAccount, mounts) => {
  const { world, plugin } = await start({ ...account('default'), ...ofAccount });
  const request = world.request('pods', podOf(pod));
  await refusalOf(plugin, request);
  expect(specOf(request).volumes !== undefined).toBe(mounts);
});

test('pull secrets come from the account unless the pod has its own', async () => {
  const { world, plugin } = await start({ ...account('default'), imagePullSecrets: [{ name: 'reg' }] });
  const plain = world.request('pods', podOf());
  const own = world.request('pods', podOf({ imagePullSecrets: [{ name: 'mine' }] }));
  await refusalOf(plugin, plain);
  await refusalOf(plugin, own);
  expect(specOf(plain).imagePullSecrets).toEqual([{ name: 'reg' }]);
  expect(specOf(own).imagePullSecrets).toEqual([{ name: 'mine' }]);
});

test('while accounts are still being loaded, the one of the pod is read alone', async () => {
  const { world, plugin } = await start(account('default'));
  world.view('', 'serviceaccounts').hold();
  const request = world.request('pods', podOf());
  expect(await refusalOf(plugin, request)).toBeUndefined();
  expect(specOf(request).volumes).toHaveLength(1);
  expect(await refusalOf(plugin, world.request('pods', podOf({ serviceAccountName: 'ghost' })))).toMatch(/"ghost" not found/);
});

test('an account that does not exist is refused', async () => {
  const { world, plugin } = await start();
  expect(await refusalOf(plugin, world.request('pods', podOf({ serviceAccountName: 'ghost' })))).toBe(
    'pods "p" is forbidden: error looking up service account ns/ghost: serviceaccount "ghost" not found',
  );
});

test('the default account is waited for, because it comes right after its namespace', async () => {
  const { world, plugin } = await start();
  const request = world.request('pods', podOf());
  const waiting = refusalOf(plugin, request);
  world.with('serviceaccounts', account('default'));
  expect(await waiting).toBeUndefined();
  expect(specOf(request).serviceAccountName).toBe('default');
  expect(world.clock.pending).toBe(0);
});

test('but not forever', async () => {
  const { world, plugin } = await start();
  const waiting = refusalOf(plugin, world.request('pods', podOf()));
  await world.clock.advance(2000);
  expect(await waiting).toMatch(/serviceaccount "default" not found/);
});

const strict = {
  ...account('default', { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } }),
  secrets: [{ name: 'ok' }],
  imagePullSecrets: [{ name: 'reg' }],
};
test.each([
  [{ volumes: [{ name: 'v', secret: { secretName: 'no' } }] }, /volume with secret.secretName="no" is not allowed/],
  [
    { containers: [{ name: 'c', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 'no', key: 'k' } } }] }] },
    /container c with envVar E/,
  ],
  [{ containers: [{ name: 'c', envFrom: [{ secretRef: { name: 'no' } }] }] }, /container c with envFrom/],
  [{ initContainers: [{ name: 'i', envFrom: [{ secretRef: { name: 'no' } }] }] }, /init container i with envFrom/],
  [{ imagePullSecrets: [{ name: 'no' }] }, /imagePullSecrets\[0\].name="no" is not allowed/],
])('an account that enforces its secrets refuses %j', async (spec, why) => {
  const { world, plugin } = await start(strict);
  expect(await refusalOf(plugin, world.request('pods', podOf(spec)))).toMatch(why);
  expect(await refusalOf(plugin, world.request('pods', podOf({ volumes: [{ name: 'v', secret: { secretName: 'ok' } }] })))).toBeUndefined();
});

test('a debug container cannot get at other secrets later', async () => {
  const { world, plugin } = await start(strict);
  const pod = podOf({ serviceAccountName: 'default' });
  const debug = { ...pod.spec, ephemeralContainers: [{ name: 'e', envFrom: [{ secretRef: { name: 'no' } }] }] };
  const request = world.request('pods', { ...pod, spec: debug }, { old: pod, subresource: 'ephemeralcontainers' });
  expect(await refusalOf(plugin, request)).toMatch(/ephemeral container e with envFrom/);
});

test('a mirror pod is left as it is, and may lean on nothing', async () => {
  const { world, plugin } = await start(account('default'));
  const mirror = (spec: object) => world.request('pods', podOf(spec, { annotations: { 'kubernetes.io/config.mirror': 'x' } }));
  const fine = mirror({});
  const before = structuredClone(fine.object);
  expect(await refusalOf(plugin, fine)).toBeUndefined();
  expect(fine.object).toEqual(before);
  expect(await refusalOf(plugin, mirror({ serviceAccountName: 'default' }))).toMatch(/may not reference service accounts/);
  expect(await refusalOf(plugin, mirror({ volumes: [{ name: 'v', secret: { secretName: 's' } }] }))).toMatch(/may not reference secrets/);
  const token = { name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } };
  expect(await refusalOf(plugin, mirror({ volumes: [token] }))).toMatch(/may not use ServiceAccountToken volume projections/);
});
