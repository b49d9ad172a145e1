import { jsonText } from '@plat-dev/lib/json-text';
import fc from '@plat-dev/lib/testing/fast-check.testing';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { dropManagedFields, redact, redactionOf } from './redact.ts';

const shown = (value: JsonValue, what: 'secret' | 'token' = 'secret'): string => {
  const copy = structuredClone(value);
  redact(copy, what);
  return jsonText(copy);
};
const last = 'kubectl.kubernetes.io/last-applied-configuration';
const secret = (value: string): JsonObject => ({
  kind: 'Secret',
  metadata: { name: 's', labels: { app: 'web' }, annotations: { [last]: `{"data":{"k":"${value}"}}`, note: 'seen' } },
  type: 'Opaque',
  data: { k: value, other: value },
  stringData: { p: value },
});

test('which resources hold what must not be shown', () => {
  const of = (group: string, resource: string, subresource = '') => redactionOf({ group, resource, subresource }, 'authentication.k8s.io');
  expect(of('', 'secrets')).toBe('secret');
  expect(of('authentication.k8s.io', 'tokenreviews')).toBe('token');
  expect(of('', 'serviceaccounts', 'token')).toBe('token');
  expect([of('', 'configmaps'), of('', 'serviceaccounts'), of('example.com', 'secrets')]).toEqual([undefined, undefined, undefined]);
});

test('contents go, the rest stays', () => {
  expect(JSON.parse(shown(secret('c2VjcmV0')))).toEqual({
    kind: 'Secret',
    metadata: { name: 's', labels: { app: 'web' }, annotations: { [last]: '[redacted]', note: 'seen' } },
    type: 'Opaque',
    data: { k: '[redacted]', other: '[redacted]' },
    stringData: { p: '[redacted]' },
  });
});

test('tokens of reviews and requests', () => {
  const text = shown({ spec: { token: 'xyzzy', audiences: ['a'] }, status: { token: 'xyzzy', user: { username: 'u' } } }, 'token');
  expect(text).not.toContain('xyzzy');
  expect(text).toContain('"username":"u"');
});

test('in whatever form a Secret goes over the wire, what it holds is not shown', () => {
  const word = fc.stringMatching(/^[a-zA-Z0-9+/]{8,20}$/).map((text) => `Q${text}Z`);
  const forms: ((value: string) => JsonValue)[] = [
    secret,
    (value) => ({ kind: 'SecretList', items: [secret(value), secret(value)] }),
    (value) => ({ kind: 'Table', rows: [{ cells: ['s', 2], object: secret(value) }] }),
    (value) => [{ op: 'replace', path: '/data/k', value }],
    (value) => [{ op: 'add', path: '', value: secret(value) }],
    (value) => [{ op: 'add', path: '/metadata/annotations', value: { [last]: value } }],
    (value) => [{ op: 'test', path: '/stringData', value: { k: value } }],
    (value) => ({ data: { k: value, gone: null } }),
    (value) => ({ stringData: { k: value }, metadata: { annotations: { [last]: value } } }),
  ];
  fc.assert(
    fc.property(word, fc.constantFrom(...forms), (value, form) => {
      expect(JSON.stringify(form(value))).toContain(value);
      expect(shown(form(value))).not.toContain(value);
    }),
  );
});

test('patches show what is harmless', () => {
  const patch: JsonValue = [
    { op: 'add', path: '/metadata/labels/a', value: 'b' },
    { op: 'remove', path: '/data/k' },
  ];
  expect(JSON.parse(shown(patch))).toEqual(patch);
});

test('managers of fields go from objects, lists and rows', () => {
  const one = (): JsonObject => ({ metadata: { name: 'a', managedFields: [{}] } });
  const value: JsonObject = { ...one(), items: [one()], rows: [{ cells: [], object: one() }] };
  dropManagedFields(value);
  expect(JSON.stringify(value)).not.toContain('managedFields');
});
