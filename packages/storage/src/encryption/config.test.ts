import { builtinKinds } from '@plat-dev/kinds';
import { jsonText } from '@plat-dev/lib/json-text';
import { kubernetes, plat } from '@plat-dev/meta/identity';
import { describe, expect, test } from 'vitest';
import { type EncryptionRule, readEncryptionConfig } from './config.ts';

const secret = (bytes: number): string => Buffer.alloc(bytes, 7).toString('base64');
const kinds = builtinKinds(plat);
const read = (resources: unknown, more: object = {}): EncryptionRule[] =>
  readEncryptionConfig(
    Buffer.from(jsonText({ apiVersion: 'apiserver.config.plat.dev/v1', kind: 'EncryptionConfiguration', resources, ...more })),
    plat,
    kinds,
  );
const provider = (one: unknown): EncryptionRule[] => read([{ resources: ['secrets'], providers: [one] }]);
const fault = (call: () => unknown): string => {
  try {
    call();
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

test('the file of a stock server, in YAML', () => {
  const text = `
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets, deployments.apps, ingresses.networking.k8s.io, widgets.example.com, gadgets.example.k8s.io, events.events.k8s.io]
  providers:
  - aescbc: { keys: [{ name: key2, secret: ${secret(32)} }, { name: key1, secret: ${secret(16)} }] }
  - secretbox:
      keys:
      - name: box
        secret: ${secret(32)}
  - kms: { name: vault, endpoint: "unix:///run/kms.sock", cachesize: 5, timeout: 1s500ms }
  - identity: {}
`;
  const [rule] = readEncryptionConfig(Buffer.from(text), kubernetes, builtinKinds(kubernetes));
  expect(rule?.collections).toEqual([
    'core/secrets/',
    'apps/deployments/',
    'networking/ingresses/',
    '~example.com/widgets/',
    '~example.k8s.io/gadgets/',
    'core/events/',
  ]);
  expect(rule?.providers.map((one) => ('keys' in one ? [one.type, ...one.keys.map(({ name }) => name)] : [one.type]))).toEqual([
    ['aescbc', 'key2', 'key1'],
    ['secretbox', 'box'],
    ['kms'],
    ['identity'],
  ]);
  expect(rule?.providers[2]).toEqual({ type: 'kms', name: 'vault', socket: '/run/kms.sock', version: 'v1', cacheSize: 5, timeoutMs: 1500 });
  expect(provider({ kms: { name: 'a', endpoint: 'unix:///x' } })[0]?.providers[0]).toMatchObject({ cacheSize: 1000, timeoutMs: 3000 });
});

describe('what is wrong is named by its field', () => {
  const at = 'resources[0].providers[0]';
  test.each([
    [
      { aescbc: { keys: [{ name: 'a', secret: secret(15) }] } },
      `${at}.aescbc.keys[0].secret: Invalid value: "REDACTED": a key of aescbc has 16, 24 or 32 bytes, not 15`,
    ],
    [{ aesgcm: { keys: [{ name: 'a', secret: secret(33) }] } }, 'a key of aesgcm has 16, 24 or 32 bytes, not 33'],
    [{ secretbox: { keys: [{ name: 'a', secret: secret(16) }] } }, 'a key of secretbox has 32 bytes, not 16'],
    [
      { aescbc: { keys: [{ name: 'a', secret: 'not!base64' }] } },
      `${at}.aescbc.keys[0].secret: Invalid value: "REDACTED": must be standard base64`,
    ],
    [{ aescbc: { keys: [{ name: 'a' }] } }, `${at}.aescbc.keys[0].secret: Required value`],
    [{ aescbc: { keys: [{ secret: secret(32) }] } }, `${at}.aescbc.keys[0].name: Required value`],
    [{ aescbc: { keys: [{ name: 'a:b', secret: secret(32) }] } }, `${at}.aescbc.keys[0].name: Invalid value: "a:b"`],
    [{ aescbc: { keys: [{ name: 'a'.repeat(254), secret: secret(32) }] } }, `${at}.aescbc.keys[0].name: Too long`],
    [{ aescbc: { keys: [] } }, `${at}.aescbc.keys: Required value`],
    [{ aescbc: {} }, `${at}.aescbc.keys: Required value`],
    [{ aescbc: { keys: {} } }, `${at}.aescbc.keys: Invalid value: must be a list`],
    [{ aescbc: 5 }, `${at}.aescbc: Invalid value: must be an object`],
    [{ identity: { x: 1 } }, `${at}.identity.x: Forbidden: unknown field`],
    [{ aescbs: {} }, `${at}.aescbs: Forbidden: unknown field (did you mean aescbc?)`],
    [{}, `${at}: Required value: one of identity, aescbc`],
    [{ identity: {}, aescbc: { keys: [] } }, `${at}: Forbidden: more than one provider`],
    [{ kms: { name: 'a', endpoint: 'http://x' } }, `${at}.kms.endpoint: Invalid value: "http://x"`],
    [{ kms: { name: 'a', endpoint: 'unix://relative' } }, `${at}.kms.endpoint: Invalid value`],
    [{ kms: { endpoint: 'unix:///x' } }, `${at}.kms.name: Required value`],
    [{ kms: { name: 'a' } }, `${at}.kms.endpoint: Required value`],
    [{ kms: { name: 'a', endpoint: 'unix:///x', cachesize: 0 } }, `${at}.kms.cachesize: Invalid value: 0`],
    [{ kms: { name: 'a', endpoint: 'unix:///x', timeout: '0s' } }, `${at}.kms.timeout: Invalid value`],
    [{ kms: { name: 'a', endpoint: 'unix:///x', timeout: 'soon' } }, `${at}.kms.timeout: Invalid value`],
    [{ kms: { name: 'a', endpoint: 'unix:///x', apiVersion: 'v3' } }, `${at}.kms.apiVersion: Unsupported value: "v3"`],
    [
      { kms: { name: 'a', endpoint: 'unix:///x', apiVersion: 'v2', cachesize: 5 } },
      `${at}.kms.cachesize: Invalid value: 5: cachesize is not supported in v2`,
    ],
  ])('%j', (one, message) => {
    expect(fault(() => provider(one))).toContain(message);
  });

  test.each([
    [undefined, 'resources: Required value'],
    [[], 'resources: Required value'],
    [[{ resources: [], providers: [{ identity: {} }] }], 'resources[0].resources: Required value'],
    [[{ resources: ['secrets'], providers: [] }], 'resources[0].providers: Required value'],
    [[{ resources: ['secrets'] }], 'resources[0].providers: Required value'],
    [[{ resources: ['secret'], providers: [{ identity: {} }] }], 'there is no such resource that is stored (did you mean secrets?)'],
    [[{ resources: ['Secrets'], providers: [{ identity: {} }] }], 'resources[0].resources[0]: Invalid value: "Secrets"'],
    [[{ resources: ['secrets'], provider: [] }], 'resources[0].provider: Forbidden: unknown field'],
  ])('%j', (resources, message) => {
    expect(fault(() => read(resources))).toContain(message);
  });

  test('several faults at once', () => {
    const message = fault(() => read([{ resources: ['nothing'], providers: [{ aescbc: { keys: [{}] } }, {}] }]));
    expect(message.split('; ').length).toBeGreaterThanOrEqual(4);
  });

  test('kind, version and form of the file', () => {
    expect(fault(() => read([], { kind: 'Other' }))).toContain(
      'must have kind: EncryptionConfiguration and apiVersion: apiserver.config.plat.dev/v1 or apiserver.config.k8s.io/v1; it has kind: Other',
    );
    expect(fault(() => read([], { apiVersion: 'apiserver.config.k8s.io/v2' }))).toContain(
      'it has kind: EncryptionConfiguration and apiVersion: apiserver.config.k8s.io/v2',
    );
    expect(fault(() => readEncryptionConfig(Buffer.from(''), plat, kinds))).toContain('it has no kind and no apiVersion');
    expect(fault(() => readEncryptionConfig(Buffer.from('{ "a": '), plat, kinds))).toContain('the file is neither YAML nor JSON');
    expect(fault(() => readEncryptionConfig(Buffer.from('a:\n- b:\n  - c\n   - d: e\n'), plat, kinds))).toMatch(
      /neither YAML nor JSON: see line \d/,
    );
    expect(fault(() => readEncryptionConfig(Buffer.alloc(1024 * 1024 + 1), plat, kinds))).toContain('more than');
  });

  test('a file of a stock server is read under every identity', () => {
    const rules = [{ resources: ['secrets'], providers: [{ identity: {} }] }];
    expect(read(rules, { apiVersion: 'apiserver.config.k8s.io/v1' })).toEqual(read(rules));
  });

  test('no error holds a key', () => {
    const mine = Buffer.from('this is the key that nobody may see').toString('base64');
    for (const text of [
      `{"secret": "${mine}"`,
      `a: "${mine}`,
      JSON.stringify({
        apiVersion: 'apiserver.config.plat.dev/v1',
        kind: 'EncryptionConfiguration',
        resources: [
          { resources: ['secrets'], providers: [{ aescbc: { keys: [{ name: 'a', secret: mine }] } }, { aesgcm: { keys: mine } }, mine] },
        ],
      }),
    ])
      expect(fault(() => readEncryptionConfig(Buffer.from(text), plat, kinds))).not.toContain(mine.slice(0, 12));
  });
});

test('a star names all of a group, or everything', () => {
  const identity = [{ identity: {} }];
  const [rule] = read([{ resources: ['*.apps', '*.', '*.example.com'], providers: identity }]);
  expect(rule?.collections).toEqual([]);
  expect(rule?.wildcards.map(({ pattern }) => pattern)).toEqual(['apps/*', 'core/*', '~example.com/*']);
  expect(rule?.wildcards[0]?.collections).toContain('apps/deployments/');
  expect(rule?.wildcards[1]?.collections).toContain('core/secrets/');
  expect(rule?.wildcards[1]?.collections).not.toContain('apps/deployments/');
  expect(rule?.wildcards[2]?.collections).toEqual([]);
  const [everything] = read([{ resources: ['*.*'], providers: identity }]);
  expect(everything?.wildcards[0]?.collections).toEqual(
    expect.arrayContaining(['core/secrets/', 'apps/deployments/', 'networking/ingresses/']),
  );
  const refused = (...resources: string[]) => fault(() => read([{ resources, providers: identity }]));
  expect(refused('*')).toContain("use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources");
  expect(refused('secrets*')).toContain('resources[0].resources[0]: Invalid value: "secrets*"');
  expect(refused('secrets.*')).toContain('a star stands for all resources of a group');
  expect(refused('secrets', '*.')).toContain('resources[0].resources[0]: Forbidden: names and stars of one list');
  expect(refused('*.apps', '*.*')).toContain('resources[0].resources[1]: Forbidden');
  expect(refused('secrets', '*.apps')).toBe('');
});
