/** Config maps, secrets, accounts, endpoints and namespaces. */
import { describe, expect, test } from 'vitest';
import { create, defaulted, type Loose, testEnv, update } from '../validation/kinds.testing.ts';
import { ConfigMapKind } from './config-map.ts';
import { EndpointsKind } from './endpoints.ts';
import { EventKind } from './event.ts';
import { NamespaceKind } from './namespace.ts';
import { SecretKind } from './secret.ts';
import { ServiceAccountKind } from './service-account.ts';

const mebibyte = 1024 * 1024;
const b64 = (text: string): string => Buffer.from(text).toString('base64');

describe('config maps', () => {
  test('hold a mebibyte of values and not a byte more', () => {
    const withSize = (size: number): string[] =>
      create(ConfigMapKind, { data: { a: 'x'.repeat(size - 3) }, binaryData: { b: b64('123') } }).errors;
    expect(withSize(mebibyte)).toEqual([]);
    expect(withSize(mebibyte + 1)).toEqual([`[] | TooLong | Too long: must have at most ${mebibyte} bytes`]);
  });
  test('have one map to a key', () => {
    expect(create(ConfigMapKind, { data: { a: '1' }, binaryData: { a: 'AA==' } }).errors).toEqual([
      'data[a] | Invalid | Invalid value: "a": duplicate of key present in binaryData',
    ]);
  });
  test('stay as they are once they are immutable, but for metadata', () => {
    const old = create(ConfigMapKind, { data: { a: '1' }, immutable: true }).object;
    const fixed = (field: string): string => `${field} | Forbidden | Forbidden: field is immutable when \`immutable\` is set`;
    expect(update(ConfigMapKind, old, (map) => Object.assign(map, { data: { a: '2' } })).errors).toEqual([fixed('data')]);
    expect(update(ConfigMapKind, old, (map) => Object.assign(map, { immutable: false })).errors).toEqual([fixed('immutable')]);
    expect(update(ConfigMapKind, old, (map) => Object.assign(map.metadata, { labels: { a: 'b' } })).errors).toEqual([]);
  });
});

describe('secrets', () => {
  const of = (type: string, data: Record<string, string> = {}, metadata: Loose = {}): string[] =>
    create(SecretKind, { metadata, type: `kubernetes.io/${type}`, stringData: data }).errors;
  const missing = (...keys: string[]): string[] => keys.map((key) => `data[${key}] | Required | Required value`);

  test('plain text becomes data, lies over it and is not kept', () => {
    expect(defaulted(SecretKind, { data: { a: b64('1'), b: b64('2') }, stringData: { b: 'two', c: 'ü' } })).toMatchObject({
      data: { a: b64('1'), b: b64('two'), c: b64('ü') },
      type: 'Opaque',
    });
    expect(defaulted(SecretKind, { stringData: { b: 'x' } })).not.toHaveProperty('stringData');
    expect(defaulted(SecretKind, { stringData: {} })).not.toHaveProperty('data');
  });
  test.each<[string, string, Record<string, string>, string[]]>([
    ['a login has a name or a password', 'basic-auth', {}, missing('username', 'password')],
    ['a password alone will do', 'basic-auth', { password: '' }, []],
    ['a key for ssh must say something', 'ssh-auth', { 'ssh-privatekey': '' }, missing('ssh-privatekey')],
    ['a certificate has its key', 'tls', { 'tls.crt': 'x' }, missing('tls.key')],
    ['pull secrets have their key', 'dockerconfigjson', {}, missing('.dockerconfigjson')],
    [
      'which holds an object',
      'dockercfg',
      { '.dockercfg': '[]' },
      ['data[.dockercfg] | Invalid | Invalid value: "<secret contents redacted>": the content must be a JSON object, not an array'],
    ],
    ['a type nobody knows may hold anything', 'whatever', {}, []],
  ])('%s', (_what, type, data, errors) => {
    expect(of(type, data)).toEqual(errors);
  });
  test('the content of an invalid pull secret is not in the error', () => {
    expect(of('dockercfg', { '.dockercfg': 'hunter2' }).join()).not.toContain('hunter2');
  });
  test('a token names its account', () => {
    expect(of('service-account-token')).toEqual(['metadata.annotations[kubernetes.io/service-account.name] | Required | Required value']);
    expect(of('service-account-token', {}, { annotations: { 'kubernetes.io/service-account.name': 'a' } })).toEqual([]);
  });
  test('the type stays', () => {
    const old = create(SecretKind, { type: 'a/b' }).object;
    expect(update(SecretKind, old, (secret) => Object.assign(secret, { type: undefined })).errors).toEqual([
      'type | Invalid | Invalid value: "Opaque": field is immutable',
    ]);
  });
  test('a mebibyte of bytes is all', () => {
    const { errors } = create(SecretKind, { data: { a: Buffer.alloc(mebibyte + 1).toString('base64') } });
    expect(errors).toEqual([`data | TooLong | Too long: must have at most ${mebibyte} bytes`]);
  });
});

test('an account keeps only the names of its secrets', () => {
  const { object } = create(ServiceAccountKind, { secrets: [{ name: 's', namespace: 'elsewhere', kind: 'Secret' }, {}] });
  expect(object.secrets).toEqual([{ name: 's' }, {}]);
});

test('a row of endpoints names three and counts the rest', () => {
  const cell = (subsets: Loose): unknown => EndpointsKind.cells?.(create(EndpointsKind, { subsets }).object as never, testEnv)[1];
  const addresses = ['192.0.2.1', '2001:db8::1', '192.0.2.3', '192.0.2.4'].map((ip) => ({ ip }));
  expect(cell([{ addresses, ports: [{ port: 80 }] }])).toBe('192.0.2.1:80,[2001:db8::1]:80,192.0.2.3:80 + 1 more...');
  expect(cell([{ addresses: addresses.slice(0, 2) }])).toBe('192.0.2.1,2001:db8::1');
  expect(cell([{ notReadyAddresses: addresses }])).toBe('');
  expect(cell([])).toBe('<none>');
});

describe('namespaces', () => {
  const stored = (): Loose => create(NamespaceKind, { metadata: { name: 'x' }, spec: { finalizers: ['example.org/a'] } }).object;
  test('begin active, with the finalizer and the label of their own', () => {
    const { object } = create(NamespaceKind, { metadata: { name: 'x' }, status: { phase: 'Terminating' } });
    expect(object).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': 'x' } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    });
  });
  test('the label cannot be changed, nor can finalizers and status but by their subresources', () => {
    const { object } = update(NamespaceKind, stored(), (namespace) => {
      namespace.metadata.labels = { 'kubernetes.io/metadata.name': 'other' };
      namespace.spec.finalizers = [];
      namespace.status.phase = 'Terminating';
    });
    expect(object).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': 'x' } },
      spec: { finalizers: ['example.org/a', 'kubernetes'] },
      status: { phase: 'Active' },
    });
    const finalized = update(NamespaceKind, stored(), (namespace) => Object.assign(namespace.spec, { finalizers: [] }), 'finalize');
    expect(NamespaceKind.holdsDeletion?.(stored() as never)).toBe(true);
    expect(NamespaceKind.holdsDeletion?.(finalized.object as never)).toBe(false);
  });
  test('the phase says whether they are being deleted', () => {
    const says = (phase: string, deletionTimestamp?: string): string[] => {
      const old = stored();
      if (deletionTimestamp !== undefined) old.metadata.deletionTimestamp = deletionTimestamp;
      return update(NamespaceKind, old, (namespace) => Object.assign(namespace.status, { phase }), 'status').errors;
    };
    expect(says('Active')).toEqual([]);
    expect(says('Terminating', '2024-01-01T00:00:00Z')).toEqual([]);
    expect(says('Active', '2024-01-01T00:00:00Z')).toEqual([
      'status.Phase | Invalid | Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty',
    ]);
  });
});

describe('events', () => {
  const involvedObject = { kind: 'Pod', namespace: 'ns', name: 'p' };
  const cells = (event: Loose): Loose => EventKind.cells?.(create(EventKind, { involvedObject, ...event }).object as never, testEnv);
  test('leave the store after the time they are kept', () => {
    expect(EventKind.ttl?.({ ...testEnv, eventTtlSeconds: 60 })).toBe(60);
    const { eventTtlSeconds: _, ...without } = testEnv;
    expect(EventKind.ttl?.(without)).toBe(3600);
  });
  test('a row tells of both styles', () => {
    const seen = { firstTimestamp: '2024-01-01T03:04:05Z', lastTimestamp: '2024-01-02T03:03:05Z', count: 4 };
    expect(cells({ ...seen, type: 'Normal', reason: 'Why', message: ' m ', source: { component: 'c', host: 'h' } })).toEqual([
      '60s',
      'Normal',
      'Why',
      'pod/p',
      '',
      'c, h',
      'm',
      '24h',
      4,
      'x',
    ]);
    const series = { count: 7, lastObservedTime: '2024-01-02T03:04:00.000000Z' };
    const newer = { eventTime: '2024-01-02T03:00:05.000000Z', reportingComponent: 'r', reportingInstance: 'i', action: 'a', reason: 'b' };
    expect(cells({ ...newer, series }).slice(0, 9)).toEqual(['5s', '', 'b', 'pod/p', '', 'r, i', '', '4m', 7]);
    expect(cells({})[8]).toBe(1);
    expect(cells({})[0]).toBe('<unknown>');
  });
  test('stand in the namespace of what they are about, but for what has none', () => {
    const mismatch = 'involvedObject.namespace | Invalid | Invalid value: "other": does not match event.namespace';
    expect(create(EventKind, { involvedObject: { namespace: 'other' } }).errors).toEqual([mismatch]);
    expect(create(EventKind, { involvedObject: {} }).errors).toHaveLength(1);
  });
});
