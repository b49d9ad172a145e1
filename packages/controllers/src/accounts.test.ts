import { plat } from '@plat-dev/meta/identity';
import { afterEach, describe, expect, test } from 'vitest';
import { rootCAPublisher } from './root-ca-publisher.ts';
import { serviceAccountController } from './service-account.ts';
import { serviceAccountTokenController } from './service-account-token.ts';
import { FakeApi, fakeKinds, type Loose, runControllers, type TestRun } from './testing.ts';

const { namespaces, configMaps, secrets, serviceAccounts } = fakeKinds;
let run: TestRun | undefined;
afterEach(async () => {
  await run?.stop();
  run = undefined;
});
const newApi = (): FakeApi => new FakeApi([namespaces, configMaps, secrets, serviceAccounts]);
const text = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString();

test('every namespace gets its default account, and gets it back; one on its way out does not', async () => {
  const api = newApi();
  api.put(namespaces, { metadata: { name: 'old' } });
  run = runControllers(api, [serviceAccountController]);
  api.put(namespaces, { metadata: { name: 'new' } });
  api.put(namespaces, { metadata: { name: 'going', deletionTimestamp: '2024-01-01T00:00:00Z' } });
  await run.idle();
  expect(
    api
      .all(serviceAccounts)
      .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
      .sort(),
  ).toEqual(['new/default', 'old/default']);
  await api.remove(serviceAccounts, 'old', 'default');
  await run.idle();
  expect(api.get(serviceAccounts, 'old', 'default')).toBeDefined();
});

test('the root certificates are published in every namespace, and put right', async () => {
  const api = newApi();
  api.put(namespaces, { metadata: { name: 'a' } });
  run = runControllers(api, [rootCAPublisher('CERTIFICATES')], plat);
  await run.idle();
  const published = (): Loose => api.get(configMaps, 'a', 'plat-root-ca.crt');
  expect(published().data).toEqual({ 'ca.crt': 'CERTIFICATES' });
  expect(published().metadata.annotations['plat.dev/description']).toContain('plat.default.svc');
  api.put(configMaps, { metadata: { ...published().metadata, annotations: { mine: 'too' } }, data: { 'ca.crt': 'FORGED', more: 'x' } });
  await run.idle();
  expect(published().data).toEqual({ 'ca.crt': 'CERTIFICATES' });
  expect(published().metadata.annotations.mine).toBe('too');
  await api.remove(configMaps, 'a', 'plat-root-ca.crt');
  await run.idle();
  expect(published()).toBeDefined();
});

const name = 'kubernetes.io/service-account.name';
const uid = 'kubernetes.io/service-account.uid';
function withTokens() {
  const api = newApi();
  const controller = serviceAccountTokenController({
    sign: async ({ namespace, secretName, account }) => `${namespace}/${secretName} for ${account.name} ${account.uid}`,
    rootCertificates: 'CERTIFICATES',
  });
  run = runControllers(api, [controller]);
  const account = api.put(serviceAccounts, { metadata: { name: 'robot', namespace: 'a' }, secrets: [{ name: 'kept' }, { name: 'other' }] });
  const secret = (annotations: Loose = { [name]: 'robot' }, data: Loose = undefined): Loose =>
    api.put(secrets, { metadata: { name: 'kept', namespace: 'a', annotations }, type: 'kubernetes.io/service-account-token', data });
  return { api, run, account, secret, kept: () => api.get(secrets, 'a', 'kept') };
}

test('a secret for the token of an account is filled', async () => {
  const { run, account, secret, kept } = withTokens();
  secret();
  await run.idle();
  expect(Object.fromEntries(Object.entries<string>(kept().data).map(([key, value]) => [key, text(value)]))).toEqual({
    token: `a/kept for robot ${account.metadata.uid}`,
    namespace: 'a',
    'ca.crt': 'CERTIFICATES',
  });
  expect(kept().metadata.annotations[uid]).toBe(account.metadata.uid);
});

test('what is taken out is put back; what somebody added stays', async () => {
  const { run, secret, kept } = withTokens();
  secret({ [name]: 'robot' }, { extra: 'AA==', token: Buffer.from('theirs').toString('base64') });
  await run.idle();
  expect([text(kept().data.token), kept().data.extra]).toEqual(['theirs', 'AA==']);
  secret(kept().metadata.annotations, { namespace: kept().data.namespace });
  await run.idle();
  expect(text(kept().data.token)).toMatch(/^a\/kept for robot/);
});

test('a secret for an account that is not there, or is another one by now, is removed', async () => {
  const { api, run, secret, kept } = withTokens();
  secret({ [name]: 'ghost' });
  await run.idle();
  expect(kept()).toBeUndefined();
  secret({ [name]: 'robot', [uid]: 'an-older-one' });
  await run.idle();
  expect(kept()).toBeUndefined();
  api.put(secrets, { metadata: { name: 'opaque', namespace: 'a', annotations: { [name]: 'ghost' } }, type: 'Opaque' });
  await run.idle();
  expect(api.get(secrets, 'a', 'opaque')).toBeDefined();
});

test('secrets go with their account, and accounts forget secrets that are gone', async () => {
  const { api, run, secret, kept } = withTokens();
  api.put(secrets, { metadata: { name: 'other', namespace: 'a' } });
  secret();
  await run.idle();
  await api.remove(secrets, 'a', 'kept');
  await run.idle();
  expect(api.get(serviceAccounts, 'a', 'robot').secrets).toEqual([{ name: 'other' }]);
  secret();
  await run.idle();
  await api.remove(serviceAccounts, 'a', 'robot');
  await run.idle();
  expect(kept()).toBeUndefined();
});

test('an account that has only just been made is asked for before its secret is removed', async () => {
  const api = newApi();
  const controller = serviceAccountTokenController({ sign: async () => 'token', rootCertificates: '' });
  // The watch of accounts is late: it never tells.
  const deaf = new Proxy(api, {
    get(target, key) {
      if (key !== 'stream') return Reflect.get(target, key).bind?.(target) ?? Reflect.get(target, key);
      return (request: Loose, sink: Loose) =>
        target.stream(request, request.path.includes('/serviceaccounts') ? { data() {}, end() {} } : sink);
    },
  });
  run = runControllers(deaf, [controller]);
  await run.idle();
  api.put(serviceAccounts, { metadata: { name: 'robot', namespace: 'a' } });
  api.put(secrets, {
    metadata: { name: 'kept', namespace: 'a', annotations: { [name]: 'robot' } },
    type: 'kubernetes.io/service-account-token',
  });
  await run.idle();
  expect(text(api.get(secrets, 'a', 'kept').data.token)).toBe('token');
});

describe('without LegacyServiceAccountTokenNoAutoGeneration', () => {
  function withGenerated() {
    const api = newApi();
    const sign = async ({ namespace, secretName, account }: Loose): Promise<string> =>
      `${namespace}/${secretName} for ${account.name} ${account.uid}`;
    run = runControllers(api, [serviceAccountTokenController({ sign, rootCertificates: 'CERTIFICATES', generate: true })]);
    return { api, run, robot: () => api.get(serviceAccounts, 'a', 'robot'), tokens: () => api.all(secrets) };
  }

  test('an account gets a secret with its token and names it, once', async () => {
    const { api, run, robot, tokens } = withGenerated();
    api.put(serviceAccounts, { metadata: { name: 'robot', namespace: 'a' }, secrets: [{ name: 'opaque' }] });
    api.put(secrets, { metadata: { name: 'opaque', namespace: 'a' }, type: 'Opaque' });
    await run.idle();
    const [made, ...others] = tokens().filter(({ type }: Loose) => type !== 'Opaque');
    expect(others).toEqual([]);
    expect(made.metadata.name).toMatch(/^robot-token-[a-z0-9]{5}$/);
    expect(made.metadata.annotations).toEqual({ [name]: 'robot', [uid]: robot().metadata.uid });
    expect(text(made.data.token)).toBe(`a/${made.metadata.name} for robot ${robot().metadata.uid}`);
    expect(robot().secrets).toEqual([{ name: 'opaque' }, { name: made.metadata.name }]);
    api.put(serviceAccounts, { ...robot(), metadata: { ...robot().metadata, labels: { x: 'y' } } });
    await run.idle();
    expect(tokens()).toHaveLength(2);
  });

  test('one whose secret is deleted gets another', async () => {
    const { api, run, robot, tokens } = withGenerated();
    api.put(serviceAccounts, { metadata: { name: 'robot', namespace: 'a' } });
    await run.idle();
    const first = robot().secrets[0].name;
    await api.remove(secrets, 'a', first);
    await run.idle();
    expect(robot().secrets).toHaveLength(1);
    expect(robot().secrets[0].name).not.toBe(first);
    expect(tokens().map(({ metadata }: Loose) => metadata.name)).toEqual([robot().secrets[0].name]);
  });

  test('no secret is left behind when the account changes meanwhile', async () => {
    const { api, run, robot, tokens } = withGenerated();
    let changed = false;
    api.before = (method, path) => {
      if (changed || method !== 'PUT' || !path.includes('/serviceaccounts/')) return;
      changed = true;
      api.put(serviceAccounts, { ...robot(), metadata: { ...robot().metadata, labels: { x: 'y' } } });
    };
    api.put(serviceAccounts, { metadata: { name: 'robot', namespace: 'a' } });
    await run.idle();
    await run.pass(60_000);
    expect(changed).toBe(true);
    expect(robot().metadata.labels).toEqual({ x: 'y' });
    expect(tokens().map(({ metadata }: Loose) => metadata.name)).toEqual(robot().secrets.map((one: Loose) => one.name));
    expect(tokens()).toHaveLength(1);
  });
});

test('with it no account gets a secret by itself', async () => {
  const { api, run } = withTokens();
  api.put(serviceAccounts, { metadata: { name: 'other', namespace: 'a' } });
  await run.idle();
  expect(api.all(secrets)).toEqual([]);
});
