import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@plat-dev/lib/clock';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { expect, test } from 'vitest';
import { type ClientConfig, configPaths, loadConfig, parseConfig, printConfig, writeConfig } from './config.ts';
import { type ConnectionChoice, connectionOf } from './connection.ts';

const directory = temporaryDirectory('plat-config');
const file = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};
/** What counts as a certificate or a key until OpenSSL reads it. */
const certificatePem = (text: string): string => `-----BEGIN CERTIFICATE-----\n${text}`;
const keyPem = (text: string): string => `-----BEGIN PRIVATE KEY-----\n${text}`;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const sample = `
current-context: dev
clusters:
- name: one
  cluster: { server: 'https://one.example:6443/', certificate-authority: ca.pem }
- name: two
  cluster: { server: 'https://two.example', certificate-authority-data: ${base64(certificatePem('CA two'))}, insecure-skip-tls-verify: true, tls-server-name: api }
users:
- name: alice
  user: { client-certificate-data: ${base64(certificatePem('cert'))}, client-key: alice.key }
- name: bob
  user: { tokenFile: bob.token }
- name: carol
  user: { username: carol, password: pw }
- name: dave
  user: { exec: { command: get-token } }
contexts:
- name: dev
  context: { cluster: one, user: alice, namespace: team }
- name: prod
  context: { cluster: two, user: bob }
- name: odd
  context: { cluster: two, user: dave }
`;
const world = { env: {}, clock: systemClock, interactive: false, show: () => {} };
const connected = (config: ClientConfig, choice: ConnectionChoice = {}) => connectionOf(config, choice, world);
const load = (): Promise<ClientConfig> => loadConfig([file('config', sample)]);

test('the current context: files are read relative to the configuration', async () => {
  file('ca.pem', certificatePem('CA one'));
  file('alice.key', keyPem('key'));
  expect(await connected(await load())).toEqual({
    server: 'https://one.example:6443',
    ca: certificatePem('CA one'),
    certificate: certificatePem('cert'),
    key: keyPem('key'),
    authorization: undefined,
    insecure: false,
    serverName: undefined,
    namespace: 'team',
  });
});

test('another context, user or namespace may be chosen', async () => {
  file('bob.token', 'secret\n');
  const config = await load();
  expect(await connected(config, { context: 'prod' })).toMatchObject({
    server: 'https://two.example',
    ca: certificatePem('CA two'),
    authorization: 'Bearer secret',
    insecure: true,
    serverName: 'api',
    namespace: 'default',
  });
  expect(await connected(config, { context: 'prod', user: 'carol', namespace: 'x' })).toMatchObject({
    authorization: `Basic ${base64('carol:pw')}`,
    namespace: 'x',
  });
  expect(await connected(config, { context: 'prod', token: 't', server: 'https://[::1]:1' })).toMatchObject({
    server: 'https://[::1]:1',
    authorization: 'Bearer t',
    ca: certificatePem('CA two'),
  });
});

test('several files are joined, the first one wins', async () => {
  const first = file('first', JSON.stringify({ contexts: [{ name: 'dev', context: { cluster: 'two' } }] }));
  const config = await loadConfig([join(directory, 'absent'), first, file('config', sample)]);
  expect(config.currentContext).toBe('dev');
  expect((await connected(config)).server).toBe('https://two.example');
});

test('mistakes are reported in words', async () => {
  const config = await load();
  await expect(connected(config, { context: 'prd' })).rejects.toThrow('has no context "prd" (did you mean prod?)');
  await expect(connected(config, { context: 'odd' })).rejects.toThrow('the credential plug-in of the user "dave" names no apiVersion');
  await expect(connected(await loadConfig([]))).rejects.toThrow('no server is known');
  await expect(connected(await loadConfig([]), { server: 'one' })).rejects.toThrow('is not an address such as');
  await expect(connected(await loadConfig([]), { server: 'http://far.example', token: 't' })).rejects.toThrow('it does not use HTTPS');
  await expect(parseConfig('{', 'x')).rejects.toThrow('x does not parse');
  await expect(parseConfig('[]', 'x')).rejects.toThrow('x is not a configuration');
});

test('the address of the command line needs no cluster, and an entry without fields counts as one', async () => {
  const contexts = '{name: a, context: {cluster: absent}}, {name: b, context: {cluster: empty}}';
  const config = await parseConfig(`clusters: [{name: empty, cluster: }]\ncontexts: [${contexts}]`, 'x');
  const server = 'https://named.example';
  for (const context of ['a', 'b']) expect(await connected(config, { context, server })).toMatchObject({ server });
  await expect(connected(config, { context: 'a' })).rejects.toMatchObject({
    stockText: 'Error in configuration: no server found for cluster "absent"',
  });
  await expect(connected(config, { context: 'a', server, cluster: 'none' })).rejects.toThrow('has no cluster "none"');
});

test('a file of another version is refused', async () => {
  await expect(parseConfig('apiVersion: v2', 'x')).rejects.toMatchObject({
    message: 'the client configuration x has apiVersion "v2": it must be v1',
    stockText: 'error: error loading config file "x": no kind "Config" is registered for version "v2"',
  });
  for (const text of ['apiVersion: v1', 'apiVersion: ""', 'kind: Config']) expect((await parseConfig(text, 'x')).currentContext).toBe('');
});

test('where the files are', () => {
  expect(configPaths('/a', { KUBECONFIG: '/b' }, ['/c'])).toEqual(['/a']);
  expect(configPaths(undefined, { KUBECONFIG: '/b::/d' }, ['/c'])).toEqual(['/b', '/d']);
  expect(configPaths(undefined, { PLATCONFIG: '/p', KUBECONFIG: '/b' }, ['/c'])).toEqual(['/p']);
  expect(configPaths(undefined, {}, ['/c'])).toEqual(['/c']);
});

test('what is written can be read, by its owner only', async () => {
  const path = join(directory, 'new', 'admin.conf');
  const pems = { ca: certificatePem('CA'), certificate: certificatePem('cert'), key: keyPem('key') };
  const config = { name: 'plat', server: 'https://127.0.0.1:6443', user: 'admin', ...pems };
  await writeConfig(path, config);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(await connected(await loadConfig([path]))).toMatchObject({ server: config.server, ...pems });
  const parsed = await parseConfig(printConfig({ name: 'a', server: 'https://x', ca: '', user: 'u: "odd"', token: 't"' }), 'x');
  expect((await connected(parsed)).authorization).toBe('Bearer t"');
});
