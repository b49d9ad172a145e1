import fc from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { checkFieldSelector, FieldSelector, MAX_FIELD_REQUIREMENTS, parseFieldSelector } from './fields.ts';

const pods: Record<string, Record<string, string>> = {
  free: { 'metadata.name': 'free', 'status.phase': 'Pending' },
  placed: { 'metadata.name': 'placed', 'spec.nodeName': 'node-7', 'status.phase': 'Running' },
};
const select = (text: string): string => {
  const selector = parseFieldSelector(text);
  return Object.keys(pods)
    .filter((name) => selector.matches((field) => pods[name]?.[field] ?? ''))
    .join(' ');
};

test.each([
  ['', 'free placed'],
  ['metadata.name=free', 'free'],
  ['metadata.name==free', 'free'],
  ['metadata.name!=free', 'placed'],
  ['spec.nodeName=', 'free'],
  ['spec.nodeName!=', 'placed'],
  ['status.phase!=Pending,spec.nodeName=node-7', 'placed'],
  [',metadata.name=free,,', 'free'],
  ['metadata.name=fr\\,ee', ''],
  ['metadata.name=free,metadata.name=placed', ''],
])('%j selects %j', (text, names) => {
  expect(select(text)).toBe(names);
});

test.each([
  ['metadata.name', "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
  ['metadata.name>a', "invalid selector: 'metadata.name>a'; can't understand 'metadata.name>a'"],
  ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
  ['metadata.name=a\\q', 'invalid field selector: invalid escape sequence: \\q'],
  ['metadata.name=a\\', 'invalid field selector: invalid escape sequence: \\'],
])('%j is refused', (text, message) => {
  expect(() => parseFieldSelector(text)).toThrow(expect.objectContaining({ code: 400, message }));
});

test('a field that the kind does not know is refused', () => {
  expect(() => checkFieldSelector(parseFieldSelector('metadata.name=a,metadata.namespace=b'), undefined)).not.toThrow();
  expect(() => checkFieldSelector(parseFieldSelector('metadata.uid=x'), undefined)).toThrow(
    '"metadata.uid" is not a known field selector: only "metadata.name", "metadata.namespace"',
  );
  const own = { 'spec.nodeName': true };
  expect(() => checkFieldSelector(parseFieldSelector('spec.nodeName=x'), own)).not.toThrow();
  expect(() => checkFieldSelector(parseFieldSelector('spec.hostNetwork=true'), own)).toThrow('field label not supported: spec.hostNetwork');
  expect(() => checkFieldSelector(parseFieldSelector('toString=x'), own)).toThrow('field label not supported: toString');
  const problem = (field: string): string => `no ${field} here`;
  expect(() => checkFieldSelector(parseFieldSelector('spec.nodeName=x,metadata.name=a'), own, problem)).not.toThrow();
  expect(() => checkFieldSelector(parseFieldSelector('spec.colour=red'), own, problem)).toThrow('no spec.colour here');
  expect(() => checkFieldSelector(parseFieldSelector('spec.colour=red'), undefined, problem)).toThrow('no spec.colour here');
});

test('the value asked for is laid open for a lookup', () => {
  const selector = parseFieldSelector('metadata.namespace!=x,metadata.name=a');
  expect(selector.exact('metadata.name')).toBe('a');
  expect(selector.exact('metadata.namespace')).toBeUndefined();
});

test('a printed selector is read as the same selector', () => {
  const requirement = fc.record({
    field: fc.stringMatching(/^[a-z.]{1,10}$/),
    operator: fc.constantFrom('=' as const, '!=' as const),
    value: fc.string({ unit: 'grapheme' }),
  });
  fc.assert(
    fc.property(fc.array(requirement), (requirements) => {
      const again = parseFieldSelector(new FieldSelector(requirements).toString());
      const key = (r: { field: string; operator: string; value: string }): string => JSON.stringify([r.field, r.operator, r.value]);
      expect(again.requirements.map(key).sort()).toEqual(requirements.map(key).sort());
    }),
  );
});

test('each field of an object is read once, however long the selector is', () => {
  const text = Array.from({ length: 4000 }, (_, i) => `spec.nodeName!=n${i}`).join();
  const read: string[] = [];
  const matches = parseFieldSelector(text).matches((field) => {
    read.push(field);
    return 'other';
  });
  expect(matches).toBe(true);
  expect(read).toEqual(['spec.nodeName']);
});

test('two values for one field select nothing, and a value that is also excluded neither', () => {
  expect(parseFieldSelector('a=1,a=2').matches(() => '1')).toBe(false);
  expect(parseFieldSelector('a=1,a!=1').matches(() => '1')).toBe(false);
  expect(parseFieldSelector('a=1,a=1,a!=2').matches(() => '1')).toBe(true);
});

test('a query has a bound on its requirements', () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => `metadata.name!=n${i}`).join();
  expect(parseFieldSelector(many(MAX_FIELD_REQUIREMENTS)).requirements).toHaveLength(MAX_FIELD_REQUIREMENTS);
  expect(() => parseFieldSelector(many(MAX_FIELD_REQUIREMENTS + 1))).toThrow('the field selector has more than 5000 requirements');
});
