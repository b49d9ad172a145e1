/** The options of `npm run bench`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { benchOptions } from '../../bench/options.mjs';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';

const parsed = (...argv: string[]) => benchOptions(argv, ['get', 'create']);

test('without any, one server on lmdb and one round of each load', () => {
  expect(parsed()).toEqual({
    seconds: 5,
    requests: undefined,
    rounds: 1,
    connections: 32,
    pods: 500,
    growth: undefined,
    only: undefined,
    stores: ['lmdb'],
    against: undefined,
    write: false,
    build: true,
  });
});

test('another server: its address, its process and those of its store', () => {
  const against = ['--against', 'https://127.0.0.1:6443/,12,34', '--token', 't', '--name', 'stock'];
  expect(parsed(...against)).toMatchObject({
    rounds: 3,
    against: { name: 'stock', address: 'https://127.0.0.1:6443', pids: [12, 34], token: 't' },
  });
});

test('several stores are compared in three rounds, or as many as are given; a later option replaces an earlier one', () => {
  expect(parsed('--stores', 'lmdb,etcd')).toMatchObject({ stores: ['lmdb', 'etcd'], rounds: 3 });
  expect(parsed('--stores', 'lmdb,etcd', '--rounds', '5', '--rounds', '2')).toMatchObject({ rounds: 2 });
});

test('--growth has a number of its own', () => {
  expect(parsed('--growth', '--write')).toMatchObject({ growth: 50_000, write: true });
  expect(parsed('--growth', '70')).toMatchObject({ growth: 70 });
});

test.each([
  [['--agianst', 'x'], 'unknown option --agianst'],
  [['get'], 'unknown option get'],
  [['--seconds'], '--seconds needs a value'],
  [['--seconds', '--write'], '--seconds needs a value'],
  [['--seconds', '0'], '--seconds 0: not a whole number above 0'],
  [['--rounds', '1.5'], '--rounds 1.5: not a whole number above 0'],
  [['--seconds', '1', '--requests', '9'], '--seconds and --requests exclude each other'],
  [['--pods', '42'], '--pods: the loads read pods p7 and p42'],
  [['--only', 'get,put'], '--only: there is no load put; choose from get, create, watch, restart'],
  [['--stores', 'sqlite'], '--stores: there is no store sqlite'],
  [['--token', 't'], '--token belongs to --against'],
  [['--against', 'http://127.0.0.1:1,2', '--token', 't'], 'not an https URL'],
  [['--against', '12', '--token', 't'], 'not an https URL'],
  [['--against', 'https://example.com,2', '--token', 't'], 'only servers on this machine'],
  [['--against', 'https://127.0.0.1:1', '--token', 't'], 'give the process of the server'],
  [['--against', 'https://127.0.0.1:1,x', '--token', 't'], '--against x: not a whole number'],
  [['--against', 'https://127.0.0.1:1,2'], '--against needs one of --token and --kubeconfig'],
  [['--against', 'https://127.0.0.1:1,2', '--token', 't', '--kubeconfig', 'f'], '--against needs one of --token and --kubeconfig'],
])('%j is refused', (argv, message) => {
  expect(() => parsed(...argv)).toThrow(message);
});

describe('the credentials of a kubeconfig', () => {
  const directory = temporaryDirectory('plat-bench-options');
  const tokenFrom = (name: string, user: string): string | undefined => {
    const file = join(directory, name);
    writeFileSync(file, `current-context: c\ncontexts: [{name: c, context: {user: me}}]\nusers: [{name: other, user: {}}, ${user}]\n`);
    return parsed('--against', 'https://localhost:1,2', '--kubeconfig', file).against?.token;
  };

  test('are the token of its current user, or of a file that it names', () => {
    expect(tokenFrom('token', '{name: me, user: {token: abc}}')).toBe('abc');
    const tokenFile = join(directory, 'tokens');
    writeFileSync(tokenFile, 'def\n');
    expect(tokenFrom('file', `{name: me, user: {tokenFile: ${tokenFile}}}`)).toBe('def');
  });

  test('cannot be a certificate, nor of a user that is not there', () => {
    expect(() => tokenFrom('certificate', '{name: me, user: {client-certificate: x}}')).toThrow('wrk presents no certificates');
    expect(() => tokenFrom('nobody', '{name: you, user: {token: abc}}')).toThrow('the current context has no user');
  });
});
