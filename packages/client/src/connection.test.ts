import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FakeClock } from '@plat-dev/lib/clock';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { expect, test } from 'vitest';
import { parseConfig, type UserEntry } from './config.ts';
import { type ConnectionChoice, connectionOf } from './connection.ts';
import type { Connection } from './connection-settings.ts';
import type { CredentialSource } from './credentials.ts';

const directory = temporaryDirectory('plat-connection');
const clock = new FakeClock(0);
const world = { env: {}, clock, interactive: false, show: () => {} };
/** What counts as a certificate or a key until OpenSSL reads it. */
const certificate = '-----BEGIN CERTIFICATE-----\n';
const key = '-----BEGIN EC PRIVATE KEY-----\n';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const certified = { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) };
async function connected(user: UserEntry, choice: ConnectionChoice = {}, cluster: object = {}): Promise<Connection> {
  const config = {
    clusters: [{ name: 'c', cluster: { server: 'https://one.example', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  return connectionOf(await parseConfig(JSON.stringify(config), join(directory, 'config')), choice, world);
}

test('the user to act as, from the file and from the command line', async () => {
  const user: UserEntry = { as: 'jane', 'as-uid': '7', 'as-groups': ['a', 'b'], 'as-user-extra': { 'Scopes/ä': ['x', 'y'] } };
  expect((await connected(user)).impersonation).toEqual({
    'impersonate-user': 'jane',
    'impersonate-uid': '7',
    'impersonate-group': ['a', 'b'],
    'impersonate-extra-scopes%2F%C3%A4': ['x', 'y'],
  });
  expect((await connected({}, { as: 'eve', asGroups: ['c'] })).impersonation).toEqual({
    'impersonate-user': 'eve',
    'impersonate-group': ['c'],
  });
  expect((await connected({ as: '' })).impersonation).toBeUndefined();
  await expect(connected({}, { asGroups: ['c'] })).rejects.toThrow('need a user to act as: add --as USER');
});

test('what the command line says comes before what the file says', async () => {
  const plugin = { exec: { command: 'never-run' } };
  expect(await connected(plugin, { token: 't' })).toMatchObject({ authorization: 'Bearer t' });
  expect((await connected(plugin, { username: 'n', password: 'p' })).authorization).toBe(`Basic ${Buffer.from('n:p').toString('base64')}`);
  const both = await connected(certified, { token: 't' });
  expect(both).toMatchObject({ authorization: 'Bearer t', certificate: undefined, key: undefined });
  writeFileSync(join(directory, 'own.crt'), `${certificate}own`);
  writeFileSync(join(directory, 'own.key'), `${key}own`);
  const own = { clientCertificate: join(directory, 'own.crt'), clientKey: join(directory, 'own.key') };
  expect(await connected(certified, own)).toMatchObject({ certificate: `${certificate}own`, key: `${key}own` });
  // A certificate of the file comes before a plug-in of the file.
  const withBoth = await connected({ ...plugin, ...certified });
  expect([withBoth.certificate, withBoth.credentials]).toEqual([certificate, undefined]);
  const cluster = { 'tls-server-name': 'file', 'proxy-url': 'http://p.example:1' };
  expect(await connected({}, { tlsServerName: 'flag' }, cluster)).toMatchObject({ serverName: 'flag', proxy: 'http://p.example:1' });
});

test('another address of a cluster is trusted by its CA, whatever name the file expects at the first', async () => {
  const cluster = { 'certificate-authority-data': base64(certificate), 'tls-server-name': 'file' };
  const server = 'https://two.example';
  expect(await connected({}, { server }, cluster)).toMatchObject({ server, ca: certificate, serverName: undefined });
  expect(await connected({}, { server, tlsServerName: 'flag' }, cluster)).toMatchObject({ ca: certificate, serverName: 'flag' });
});

test('a CA on the command line is checked, although the file says not to', async () => {
  const certificateAuthority = join(directory, 'own-ca.crt');
  writeFileSync(certificateAuthority, `${certificate}own CA`);
  const cluster = { 'insecure-skip-tls-verify': true };
  expect(await connected({}, { certificateAuthority }, cluster)).toMatchObject({ ca: `${certificate}own CA`, insecure: false });
  expect(await connected({}, {}, cluster)).toMatchObject({ insecure: true });
});

test('files without a certificate or key are named, instead of being somebody else or trusting other CAs', async () => {
  const empty = join(directory, 'empty.crt');
  writeFileSync(empty, '');
  await expect(connected({}, { certificateAuthority: empty })).rejects.toThrow(`${empty} holds no certificate in PEM form`);
  await expect(connected({ ...certified, 'client-certificate-data': 'eA==' })).rejects.toThrow(
    'client-certificate-data holds no certificate',
  );
  await expect(connected(certified, { clientKey: empty })).rejects.toThrow(`${empty} holds no private key in PEM form`);
});

test('a user who says two things is not understood', async () => {
  await expect(connected({ token: 't', username: 'n' })).rejects.toThrow('the user "u" has token and username: only one');
  await expect(connected({ exec: { command: 'x' }, 'auth-provider': { name: 'oidc' } })).rejects.toThrow('exec and auth-provider');
  await expect(connected({ 'client-key-data': 'eA==' })).rejects.toThrow('a client key but no certificate');
});

test('a token in a file is read again, and stays good while the file is away', async () => {
  const path = join(directory, 'token');
  writeFileSync(path, 'one\n');
  const connection = await connected({ tokenFile: 'token' });
  const credentials = connection.credentials as CredentialSource;
  expect(connection.authorization).toBe('Bearer one');
  expect(await credentials.current()).toEqual({ authorization: 'Bearer one' });
  writeFileSync(path, 'two');
  expect(await credentials.current()).toEqual({ authorization: 'Bearer one' });
  expect(await credentials.refused({ authorization: 'Bearer one' })).toBe(true);
  expect(await credentials.current()).toEqual({ authorization: 'Bearer two' });
  writeFileSync(path, 'three');
  clock.advance(10_000);
  expect(await credentials.current()).toEqual({ authorization: 'Bearer three' });
  rmSync(path);
  clock.advance(10_000);
  expect(await credentials.current()).toEqual({ authorization: 'Bearer three' });
});
