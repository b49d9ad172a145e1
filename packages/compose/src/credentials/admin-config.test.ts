import { parseYaml } from '@plat-dev/schema/yaml';
import { expect, test } from 'vitest';
import { type AdminEntry, mergeAdminConfig, mergeAdminTexts, printAdminConfig } from './admin-config.ts';

const at = (port: number, ca = 'CA'): AdminEntry => ({
  name: `plat@127.0.0.1:${port}`,
  server: `https://127.0.0.1:${port}`,
  ca,
  admin: { key: 'KEY', certificate: 'CERTIFICATE' },
});
interface Loose {
  clusters: { name: string; cluster: { server: string } }[];
  users: { name: string }[];
  contexts: { name: string; context: { cluster: string; user: string; namespace?: string } }[];
  'current-context': string;
}
const read = (text: string): Loose => parseYaml(text) as unknown as Loose;
const names = (list: readonly { name: string }[]): string[] => list.map(({ name }) => name);

/** What a user adds to the file of the server at 6443. */
const edited = (): string =>
  printAdminConfig(at(6443), {
    clusters: '- cluster:\n    server: https://10.0.0.1\n  name: other\n',
    users: '- name: jane\n  user:\n    token: t\n',
    contexts:
      '- context:\n    cluster: plat@127.0.0.1:6443\n    user: jane\n  name: mine\n- context:\n    cluster: plat@127.0.0.1:6443\n    user: admin@plat@127.0.0.1:6443\n  name: admin-here\n',
    currentContext: 'mine',
    namespace: 'team',
  });

test('the same server changes nothing', async () => {
  expect(await mergeAdminConfig(edited(), at(6443))).toBe(edited());
  expect(await mergeAdminConfig(printAdminConfig(at(6443)), at(6443))).toBe(printAdminConfig(at(6443)));
  expect(await mergeAdminTexts(edited(), printAdminConfig(at(6443)))).toBe(edited());
});

test('at another address the entries of users are kept and lead to it', async () => {
  const merged = read(await mergeAdminConfig(edited(), at(7443)));
  expect(names(merged.clusters)).toEqual(['plat@127.0.0.1:7443', 'other']);
  expect(names(merged.users)).toEqual(['admin@plat@127.0.0.1:7443', 'jane']);
  expect(merged.contexts).toEqual([
    { name: 'plat@127.0.0.1:7443', context: { cluster: 'plat@127.0.0.1:7443', user: 'admin@plat@127.0.0.1:7443', namespace: 'team' } },
    { name: 'mine', context: { cluster: 'plat@127.0.0.1:7443', user: 'jane' } },
    { name: 'admin-here', context: { cluster: 'plat@127.0.0.1:7443', user: 'admin@plat@127.0.0.1:7443' } },
  ]);
  expect(merged['current-context']).toBe('mine');
});

test('entries of another server are not touched', async () => {
  const merged = read(await mergeAdminConfig(edited(), at(7443, 'ANOTHER')));
  expect(names(merged.clusters)).toEqual(['plat@127.0.0.1:7443', 'plat@127.0.0.1:6443', 'other']);
});

test('the current context is that of the server if the chosen one is gone', async () => {
  const gone = edited().replace('current-context: "mine"', 'current-context: nothing');
  expect(read(await mergeAdminConfig(gone, at(6443)))['current-context']).toBe('plat@127.0.0.1:6443');
});

test('a file that is no configuration is replaced', async () => {
  for (const text of ['{', '[]', 'a: [', '3', '']) expect(await mergeAdminConfig(text, at(6443))).toBe(printAdminConfig(at(6443)));
});
