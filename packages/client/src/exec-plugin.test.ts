import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FakeClock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { issueClient, newAuthority, readAuthority } from '@plat-dev/pki';
import { expect, test } from 'vitest';
import { parseConfig } from './config.ts';
import { connectionOf } from './connection.ts';
import type { CredentialEnvironment, CredentialSource } from './credentials.ts';

const directory = temporaryDirectory('plat-plugin');
const group = { kubernetes: 'client.authentication.k8s.io', plat: 'client.authentication.plat.dev' };
const v1 = `${group.kubernetes}/v1`;

let serial = 0;
/** A program that counts its runs, keeps what it was told, and prints what a script says. */
function program(script: string): { path: string; runs: () => number; told: () => Record<string, unknown> } {
  const path = join(directory, `plugin-${serial++}`);
  const head = `#!${process.execPath}
const fs = require('fs');
fs.appendFileSync(__filename + '.runs', 'x');
fs.writeFileSync(__filename + '.told', JSON.stringify({ args: process.argv.slice(2), env: process.env }));
const run = fs.readFileSync(__filename + '.runs').length;
const say = (status, more) => console.log(JSON.stringify({ kind: 'ExecCredential', apiVersion: '${v1}', status, ...more }));
`;
  writeFileSync(path, head + script);
  chmodSync(path, 0o755);
  return {
    path,
    runs: () => (existsSync(`${path}.runs`) ? readFileSync(`${path}.runs`).length : 0),
    told: () => JSON.parse(readFileSync(`${path}.told`, 'utf8')) as Record<string, unknown>,
  };
}
interface Said {
  text: string;
}
const worldOf = (changes: Partial<CredentialEnvironment> = {}): CredentialEnvironment & { said: Said } => {
  const said = { text: '' };
  return {
    env: { PATH: process.env.PATH },
    clock: new FakeClock(Date.parse('2026-01-01T00:00:00Z')),
    interactive: false,
    show: (text) => {
      said.text += text;
    },
    ...changes,
    said,
  };
};
async function connected(exec: object, world = worldOf(), cluster: object = {}) {
  const config = {
    clusters: [{ name: 'c', cluster: { server: 'https://one.example', ...cluster } }],
    users: [{ name: 'dave', user: { exec } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'dave' } }],
    'current-context': 'x',
  };
  return connectionOf(await parseConfig(jsonText(config), join(directory, 'config')), {}, world);
}
async function source(exec: object, world = worldOf(), cluster: object = {}): Promise<CredentialSource> {
  return (await connected({ apiVersion: v1, interactiveMode: 'IfAvailable', ...exec }, world, cluster)).credentials as CredentialSource;
}

test('a token is kept until it expires; whoever asks meanwhile waits for the same run', async () => {
  const world = worldOf();
  const plugin = program(`say({ token: 't' + run, expirationTimestamp: '2026-01-01T00:0' + run + ':00Z' })`);
  const credentials = await source({ command: plugin.path }, world);
  expect(plugin.runs()).toBe(0);
  const both = await Promise.all([credentials.current(), credentials.current()]);
  expect(both).toEqual([{ authorization: 'Bearer t1' }, { authorization: 'Bearer t1' }]);
  (world.clock as FakeClock).advance(59_999);
  expect(await credentials.current()).toEqual({ authorization: 'Bearer t1' });
  (world.clock as FakeClock).advance(1);
  expect(await credentials.current()).toEqual({ authorization: 'Bearer t2' });
  expect(plugin.runs()).toBe(2);
});

test('what the server refused is made anew, once for all who were refused', async () => {
  const plugin = program(`say({ token: 't' + Math.min(run, 2) })`);
  const credentials = await source({ command: plugin.path });
  const first = await credentials.current();
  expect(await Promise.all([credentials.refused(first), credentials.refused(first)])).toEqual([true, true]);
  expect(await credentials.refused(first)).toBe(true);
  expect(plugin.runs()).toBe(2);
  const second = await credentials.current();
  expect(second).toEqual({ authorization: 'Bearer t2' });
  // The same again is no reason to ask the server again.
  expect(await credentials.refused(second)).toBe(false);
});

test('it gets what it needs, in the variable of its identity', async () => {
  const extension = [{ name: `${group.kubernetes}/exec`, extension: { audience: 'a' } }];
  const plugin = program(`process.stderr.write('look at your phone\\n'); say({ token: 't' })`);
  const world = worldOf({ env: { PATH: process.env.PATH, HOME: '/home/dave' } });
  const use = { command: plugin.path, args: ['-a', 'b c'], env: [{ name: 'REGION', value: 'x' }], provideClusterInfo: true };
  const cluster = {
    'certificate-authority-data': Buffer.from('-----BEGIN CERTIFICATE-----').toString('base64'),
    'tls-server-name': 'api',
    'proxy-url': 'http://proxy.example:3128',
    extensions: extension,
  };
  await (await source(use, world, cluster)).current();
  const { args, env } = plugin.told() as { args: string[]; env: Record<string, string> };
  expect(args).toEqual(['-a', 'b c']);
  expect(env).toMatchObject({ HOME: '/home/dave', REGION: 'x' });
  expect(JSON.parse(env.KUBERNETES_EXEC_INFO as string)).toEqual({
    kind: 'ExecCredential',
    apiVersion: v1,
    spec: {
      interactive: false,
      cluster: {
        server: 'https://one.example',
        'tls-server-name': 'api',
        'certificate-authority-data': Buffer.from('-----BEGIN CERTIFICATE-----').toString('base64'),
        'proxy-url': 'http://proxy.example:3128',
        config: { audience: 'a' },
      },
    },
  });
  expect(world.said.text).toBe('look at your phone\n');

  const ours = program(`say({ token: 't' }, { apiVersion: '${group.plat}/v1beta1' })`);
  await (await source({ command: ours.path, apiVersion: `${group.plat}/v1beta1`, interactiveMode: undefined })).current();
  const told = (ours.told().env as Record<string, string>).PLAT_EXEC_INFO as string;
  expect(JSON.parse(told)).toEqual({ kind: 'ExecCredential', apiVersion: `${group.plat}/v1beta1`, spec: { interactive: false } });
});

test('the kind may be left out, the version may not', async () => {
  const print = (object: object) => source({ command: program(`console.log(${JSON.stringify(JSON.stringify(object))})`).path });
  const status = { token: 't' };
  expect(await (await print({ apiVersion: v1, status })).current()).toEqual({ authorization: 'Bearer t' });
  await expect((await print({ status })).current()).rejects.toThrow('answered in ""');
  await expect((await print({ kind: 'Other', apiVersion: v1, status })).current()).rejects.toThrow('is no ExecCredential (kind "Other")');
});

test('a certificate with its key', async () => {
  const authority = readAuthority(newAuthority('ca', Date.now()));
  const { certificate, key } = issueClient(authority, 'dave', [], Date.now());
  const other = issueClient(authority, 'eve', [], Date.now());
  const give = (status: object) => source({ command: program(`say(${jsonText(status)})`).path });
  const good = await give({ clientCertificateData: certificate, clientKeyData: key });
  expect(await good.current()).toEqual({ certificate, key });
  const mixed = await give({ clientCertificateData: certificate, clientKeyData: other.key });
  await expect(mixed.current()).rejects.toThrow('the key of another');
  await expect((await give({ clientCertificateData: certificate })).current()).rejects.toThrow('a client certificate without its key');
  await expect((await give({ clientCertificateData: 'x', clientKeyData: 'y' })).current()).rejects.toThrow('cannot be read');
});

test('a command of a file is found from there, a word along PATH', async () => {
  const plugin = program(`say({ token: 't' })`);
  const name = plugin.path.slice(directory.length + 1);
  expect(await (await source({ command: `./${name}` })).current()).toEqual({ authorization: 'Bearer t' });
  const along = worldOf({ env: { PATH: `${directory}:${process.env.PATH}` } });
  expect(await (await source({ command: name }, along)).current()).toEqual({ authorization: 'Bearer t' });
});

test('errors of a plug-in are reported with its name', async () => {
  const fails = async (script: string, message: string | RegExp): Promise<void> => {
    await expect((await source({ command: program(script).path })).current()).rejects.toThrow(message);
  };
  await fails('process.exit(3)', /plug-in .*plugin-\d+ of the user "dave" failed with exit code 3/);
  await fails(`console.log('hello')`, 'is no ExecCredential');
  await fails(`say({ token: 't' }, { apiVersion: '${group.kubernetes}/v1beta1' })`, 'make them agree');
  await fails('say()', 'without status');
  await fails('say({})', 'neither a token nor a client certificate');
  await fails(`say({ token: 't', expirationTimestamp: 'soon' })`, 'that is no time: "soon"');
  await fails(`process.stdout.write('x'.repeat(2 << 20))`, 'more than a credential');
  await expect((await source({ command: 'absent-plugin', installHint: 'Get it at example.com' })).current()).rejects.toThrow(
    /absent-plugin of the user "dave" is not there\n\nGet it at example.com$/,
  );
  await expect((await source({ command: 'absent-plugin' })).current()).rejects.toThrow('install it, or put its directory into PATH');
});

test('one that never ends is ended', async () => {
  const world = worldOf();
  const plugin = program(`process.stderr.write('begun'); setInterval(() => {}, 1000)`);
  const waiting = (await source({ command: plugin.path }, { ...world, show: () => (world.clock as FakeClock).advance(60_000) })).current();
  await expect(waiting).rejects.toThrow('gave no credential within 60 seconds');
});

test('an entry that cannot be run is refused before anything is sent', async () => {
  const refused = (exec: object, message: string, world = worldOf()) => expect(connected(exec, world)).rejects.toThrow(message);
  await refused({ apiVersion: v1 }, 'names no command');
  await refused({ command: 'x' }, `names no apiVersion: it must be one of`);
  await refused({ command: 'x', apiVersion: `${group.kubernetes}/v1alpha1` }, 'is not known (did you mean');
  await refused({ command: 'x', apiVersion: v1 }, 'names no interactiveMode: it must be one of Never, IfAvailable, Always');
  await refused({ command: 'x', apiVersion: v1, interactiveMode: 'Maybe' }, '"Maybe", which is not one of');
  await refused({ command: 'x', apiVersion: v1, interactiveMode: 'Never', env: [{ value: 'x' }] }, 'without a name');
  const alone = await source({ command: 'x', interactiveMode: 'Always' });
  await expect(alone.current()).rejects.toThrow('must be run from a terminal');
  const taken = await source({ command: 'x', interactiveMode: 'Always' }, worldOf({ interactive: false, stdinTaken: true }));
  await expect(taken.current()).rejects.toThrow('standard input has the objects: read them from a file');
});
