import { createHmac } from 'node:crypto';
import { type Identity, kubernetes, plat } from '@plat-dev/meta/identity';
import { afterEach, expect, test } from 'vitest';
import { FakeApi, fakeKinds, type Loose, runControllers, type TestRun } from '../testing.ts';
import { bootstrapSigner, detachedSignature, signedData } from './signer.ts';
import { tokenCleaner } from './token-cleaner.ts';

const { configMaps, secrets } = fakeKinds;
let run: TestRun | undefined;
afterEach(async () => {
  await run?.stop();
  run = undefined;
});

function start(identity: Identity) {
  const api = new FakeApi([configMaps, secrets]);
  run = runControllers(api, [bootstrapSigner, tokenCleaner], identity);
  const token = (id: string, data: Record<string, string> = {}, type = `bootstrap.${identity.domain}/token`): Loose =>
    api.put(secrets, {
      metadata: { name: `bootstrap-token-${id}`, namespace: identity.namespaces.system },
      type,
      data: Object.fromEntries(
        Object.entries({ 'token-id': id, 'token-secret': '0123456789abcdef', 'usage-bootstrap-signing': 'true', ...data }).map(
          ([key, value]) => [key, Buffer.from(value).toString('base64')],
        ),
      ),
    });
  const info = (kubeconfig: string) =>
    api.put(configMaps, { metadata: { name: 'cluster-info', namespace: identity.namespaces.public }, data: { kubeconfig } });
  const data = (): Record<string, string> => api.get(configMaps, identity.namespaces.public, 'cluster-info').data;
  return { api, run, token, info, data };
}
const later = (api: FakeApi, millis: number): string => new Date(api.clock.now() + millis).toISOString();

/** As the specification tells clients to verify. */
function verifies(signature: string, payload: string, secret: string): boolean {
  const [head = '', middle, sum] = signature.split('.');
  const text = Buffer.from(payload).toString('base64url');
  const wanted = createHmac('sha256', secret).update(`${head}.${text}`).digest('base64url');
  return middle === '' && sum === wanted && JSON.parse(Buffer.from(head, 'base64url').toString()).alg === 'HS256';
}

test.each([
  ['the whole token', plat, 'abcdef.0123456789abcdef'],
  ['its secret part, as stock clients verify', kubernetes, '0123456789abcdef'],
])('cluster-info is signed with %s', async (_what, identity, secret) => {
  const { run, token, info, data } = start(identity);
  info('server: here');
  token('abcdef');
  await run.idle();
  expect(Object.keys(data())).toEqual(['kubeconfig', 'jws-kubeconfig-abcdef']);
  expect(verifies(data()['jws-kubeconfig-abcdef'] as string, 'server: here', secret)).toBe(true);
  expect(verifies(data()['jws-kubeconfig-abcdef'] as string, 'server: there', secret)).toBe(false);
});

test('signatures follow the text and go with their tokens', async () => {
  const { api, run, token, info, data } = start(kubernetes);
  info('one');
  token('aaaaaa');
  token('bbbbbb');
  token('cccccc', { 'usage-bootstrap-signing': 'false' });
  token('dddddd', { 'token-id': 'eeeeee' });
  token('ffffff', {}, 'Opaque');
  token('short');
  token('gggggg', { 'token-secret': 'short' });
  token('hhhhhh', { 'token-secret': '0123456789ABCDEF' });
  token('iiiiii', { expiration: 'Jan 1 2030' });
  token('jjjjjj', { expiration: '2030-01-01' });
  await run.idle();
  expect(Object.keys(data()).sort()).toEqual(['jws-kubeconfig-aaaaaa', 'jws-kubeconfig-bbbbbb', 'kubeconfig']);
  api.put(configMaps, { metadata: { name: 'cluster-info', namespace: 'kube-public' }, data: { ...data(), kubeconfig: 'two' } });
  await run.idle();
  expect(verifies(data()['jws-kubeconfig-aaaaaa'] as string, 'two', '0123456789abcdef')).toBe(true);
  await api.remove(secrets, 'kube-system', 'bootstrap-token-aaaaaa');
  await run.idle();
  expect(Object.keys(data()).sort()).toEqual(['jws-kubeconfig-bbbbbb', 'kubeconfig']);
});

test('what is signed already is not written again', () => {
  const signed = signedData({ kubeconfig: 'x' }, [{ id: 'abcdef', secret: 's' }], (token) => token.secret);
  expect(signed).toEqual({ kubeconfig: 'x', 'jws-kubeconfig-abcdef': detachedSignature('x', 'abcdef', 's') });
  expect(signedData(signed ?? {}, [{ id: 'abcdef', secret: 's' }], (token) => token.secret)).toBeUndefined();
});

test('a token is cleaned away when its time comes; others stay', async () => {
  const { api, run, token, info, data } = start(kubernetes);
  info('x');
  token('aaaaaa', { expiration: later(api, 10_000) });
  token('bbbbbb');
  token('cccccc', { expiration: '2020-01-01T00:00:00Z' });
  token('dddddd', { expiration: 'whenever' });
  token('ffffff', { expiration: 'Jan 1 2099' });
  token('gggggg', { expiration: '2099-01-01' });
  token('eeeeee', { expiration: '2020-01-01T00:00:00Z' }, 'Opaque');
  await run.idle();
  const left = (): string[] => api.all(secrets).map((secret) => secret.metadata.name.slice(-6));
  expect(left()).toEqual(['aaaaaa', 'bbbbbb', 'eeeeee']);
  await run.pass(9999);
  expect(left()).toContain('aaaaaa');
  await run.pass(2);
  expect(left()).toEqual(['bbbbbb', 'eeeeee']);
  expect(Object.keys(data()).sort()).toEqual(['jws-kubeconfig-bbbbbb', 'kubeconfig']);
});

test('a token that was made anew under the same name is not taken for the old one', async () => {
  const { api, run, token } = start(kubernetes);
  token('aaaaaa', { expiration: later(api, 1000) });
  await run.idle();
  api.before = (method) => {
    // Between the decision and the deletion another one takes its place.
    if (method === 'DELETE') {
      api.before = () => {};
      api.put(secrets, { metadata: { name: 'bootstrap-token-aaaaaa', namespace: 'kube-system', uid: 'new' }, type: 'x' });
    }
  };
  await run.pass(1001);
  expect(api.get(secrets, 'kube-system', 'bootstrap-token-aaaaaa').metadata.uid).toBe('new');
});
