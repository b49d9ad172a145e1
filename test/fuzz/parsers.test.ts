import { deepStrictEqual } from 'node:assert';
import { X509Certificate } from 'node:crypto';
import { jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { parse as parseElsewhere } from 'yaml';
import { compilePattern, PatternError } from '../../packages/kinds/src/apiextensions/values/pattern.ts';
import { Pod } from '../../packages/kinds/src/core/schema/pods/pod.ts';
import { schemaOf } from '../../packages/kinds/src/schemas.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { canonicalQuantity, QuantityError } from '../../packages/lib/src/quantity.ts';
import { recorded } from '../../packages/lib/src/testing/recordings.testing.ts';
import { canonicalMicroTime, canonicalTime, TimeError } from '../../packages/lib/src/time.ts';
import { ApiError } from '../../packages/meta/src/errors.ts';
import { type FieldSelector, parseFieldSelector } from '../../packages/meta/src/fields.ts';
import { baseGroup, kubernetes } from '../../packages/meta/src/identity.ts';
import { JsonPathError, jsonPath } from '../../packages/meta/src/json-path.ts';
import { parseLabelSelector } from '../../packages/meta/src/labels.ts';
import { readJsonPatch, readMergePatch, readStrategicPatch } from '../../packages/patch/src/index.ts';
import {
  DerError,
  issueClient,
  issueServing,
  makeRequest,
  newAuthority,
  newKeyPair,
  parseRequest,
  readAuthority,
  readBundle,
  subjectOf,
  toPem,
} from '../../packages/pki/src/index.ts';
import { isSignedBy, parseJwt, signJwt } from '../../packages/pki/src/jwt.ts';
import { isIssuedByNamesake } from '../../packages/pki/src/namesake.ts';
import { DecodeError } from '../../packages/schema/src/errors.ts';
import { FieldFaults } from '../../packages/schema/src/fields/field-faults.ts';
import { FieldPlace } from '../../packages/schema/src/fields/field-place.ts';
import { decode, encode } from '../../packages/schema/src/json/index.ts';
import { parseJson } from '../../packages/schema/src/json/parse.ts';
import { decodeEnvelope, decodeObject, encodeObject } from '../../packages/schema/src/protobuf/envelope.ts';
import { anyValue, type JsonValue, type MessageType } from '../../packages/schema/src/types.ts';
import { parseYaml, stringifyYaml } from '../../packages/schema/src/yaml/index.ts';
import { Negotiator, parseAccept } from '../../packages/server/src/request/negotiate.ts';
import { requestInfo } from '../../packages/server/src/request/request-info.ts';
import { memberStatus, putMethod, rangeMethod } from '../../packages/storage/src/engines/etcd/messages.ts';
import { getsMethod, transaction } from '../../packages/storage/src/engines/etcd/transactions.ts';
import { fuzz } from './fuzz.ts';

/** What a parser made of the input, or undefined where it refused it as it may. */
function attempt<T>(parse: () => T, ...may: readonly (abstract new (...args: never[]) => Error)[]): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ApiError && may.includes(ApiError)) {
      expect(error.code).toBeLessThan(500);
      return undefined;
    }
    if (may.some((one) => error instanceof one)) return undefined;
    throw error;
  }
}
/** Long integers are kept exactly, which the engine's own parser cannot. */
const asNumbers = (value: unknown): unknown => {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(asNumbers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asNumbers(item)]));
};

/** An integer that a double does not hold exactly. */
const hasLongInteger = (value: unknown): boolean =>
  (typeof value === 'number' && !Number.isSafeInteger(value) && (Number.isInteger(value) || !Number.isFinite(value))) ||
  (typeof value === 'object' && value !== null && Object.values(value).some(hasLongInteger));
const hasNaN = (value: unknown): boolean =>
  Number.isNaN(value) || (typeof value === 'object' && value !== null && Object.values(value).some(hasNaN));

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'web-1',
    labels: { app: 'web', 'example.com/tier': 'front' },
    annotations: { note: 'ä "quoted" \n\t\u2028' },
    generation: 42,
  },
  spec: {
    containers: [
      { name: 'main', image: 'nginx:1.25', ports: [{ containerPort: 80 }], resources: { limits: { cpu: '1500m', memory: '1Gi' } } },
    ],
    terminationGracePeriodSeconds: 30,
    tolerations: [{ key: 'a', operator: 'Exists' }, null],
  },
  status: { conditions: [{ type: 'Ready', status: 'True' }], phase: 'Running' },
};
const jsonWords = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ',',
  ':',
  'null',
  'true',
  '-0',
  '1e400',
  '1E-7',
  '12345678901234567890',
  '9223372036854775807',
  '\\u0000',
  '\\ud800',
  '\\udc00',
  '"a":',
  '"__proto__":{}',
  '"a":1,"a":2',
  '\ufeff',
  ' ',
  '\u2028',
];
const jsonCorpus = [JSON.stringify(pod), JSON.stringify(pod, null, 2), '[]', '{"a":[1,2.5,-3e2,"x",null,true,{}]}', '"text"', '[[[[[]]]]]'];

test('JSON is read as the engine reads it, or refused where the engine refuses it', () =>
  fuzz({
    name: 'json',
    corpus: jsonCorpus,
    words: jsonWords,
    check(input) {
      const text = input.toString('utf8');
      const ours = attempt(() => ({ value: parseJson(text) }), DecodeError);
      let theirs: { value: unknown } | undefined;
      try {
        theirs = { value: JSON.parse(text) };
      } catch {
        theirs = undefined;
      }
      // Long integers that would not come back digit for digit are refused here.
      if (ours === undefined && theirs !== undefined && hasLongInteger(theirs.value)) return;
      expect(ours === undefined).toBe(theirs === undefined);
      if (ours === undefined || /\\u[dD][89a-fA-F]/.test(text)) return;
      deepStrictEqual(asNumbers(ours.value), asNumbers(theirs?.value));
      // With repeated keys laid over each other, what is not repeated stays.
      attempt(() => parseJson(input, { merge: true, place: FieldPlace.root(new FieldFaults(), anyValue) }), DecodeError);
    },
  }));

const yamlCorpus = [
  stringifyYaml(pod as unknown as JsonValue),
  'a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: [1, "two", \'three\']\n',
  '---\ntext: |-\n  one\n  two\nfold: >\n  a\n  b\n\n  c\n---\nsecond: true\n',
  '? key\n: value\n? [a, b]\n: c\n',
  '- yes\n- 0644\n- 0x1F\n- ~\n- 1_000\n- 2024-01-01\n- !!str 5\n- .inf\n',
  "%YAML 1.1\n# comment\n--- !!map\n\"quoted\\n\": 'it''s'\n",
];
const yamlWords = [
  '&a ',
  '*a',
  '<<: *x',
  '|',
  '>',
  '|2-\n',
  '- ',
  '? ',
  ': ',
  '\n',
  '\n  ',
  '---\n',
  '...\n',
  '%TAG ! x\n',
  '!!binary ',
  '!x ',
  '"',
  "'",
  '[',
  ']',
  '{',
  '}',
  ',',
  '#',
  '\t',
  '\u0085',
  '\ufeff',
  'null',
  '~',
  '{a: ',
  '\r\n',
];

test('YAML is read or refused, and what was read is written so that another reader agrees', () =>
  fuzz({
    name: 'yaml',
    corpus: [...yamlCorpus, ...jsonCorpus],
    words: yamlWords,
    check(input) {
      const read = attempt(() => ({ value: parseYaml(input) }), DecodeError);
      if (read === undefined) return;
      const written = stringifyYaml(read.value);
      deepStrictEqual(asNumbers(parseYaml(written)), asNumbers(JSON.parse(jsonText(asNumbers(read.value)))));
      if (/[^\x20-\x7e\n]|<<|[eE][-+]?[0-9]|"[-+0-9._]+"/.test(written)) return;
      const elsewhere = asNumbers(parseElsewhere(written, { version: '1.1', maxAliasCount: -1 }));
      // The other reader takes some words, such as a lone dot, for numbers that are none.
      if (hasNaN(elsewhere)) return;
      deepStrictEqual(elsewhere, JSON.parse(jsonText(asNumbers(read.value))));
    },
  }));

const wire = recorded('wire');
const foreign = [...wire.keys()].filter((file) => file.endsWith('.pb'));
function schemaFor(file: string): MessageType {
  const parts = file.replace(/\.pb$/, '').split('.');
  const kind = parts.pop() as string;
  const version = parts.pop() as string;
  const group = parts.join('.');
  return schemaOf(group === 'core' ? '' : (baseGroup(kubernetes, group) ?? group), version, kind) as MessageType;
}
const podBytes = encodeObject(Pod, decode(Pod, parseJson(JSON.stringify({ ...pod, spec: { ...pod.spec, tolerations: [] } }))) as never);

test('binary objects are read or refused, and what was read says the same in both forms', () =>
  fuzz({
    name: 'binary',
    corpus: [podBytes, ...foreign.map((file) => wire.get(file) as Buffer)],
    words: [
      'k8s\0',
      '\x0a\x00',
      '\x0a\xff\xff\xff\xff\x0f',
      '\x12\x02\x08\x01',
      '\x0b\x0c',
      '\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01',
      '\x08\x80',
      '\xed\xa0\x80',
    ],
    check(input, random) {
      const schema = schemaFor(foreign[random.below(foreign.length)] as string);
      for (const type of [schema, Pod]) {
        const object = attempt(() => decodeObject(type, decodeEnvelope(input)), DecodeError);
        if (object === undefined) continue;
        const again = decodeObject(type, decodeEnvelope(encodeObject(type, object as never)));
        expect(encode(type, again)).toBe(encode(type, object));
        const text = encode(type, object);
        expect(encode(type, decode(type, parseJson(text)))).toBe(text);
      }
    },
  }));

// ---- patches ---------------------------------------------------------------------------------------------------------

const patchCorpus = [
  '[{"op":"add","path":"/metadata/labels/x","value":"y"},{"op":"remove","path":"/spec/containers/0"}]',
  '[{"op":"test","path":"/kind","value":"Pod"},{"op":"move","from":"/metadata/labels","path":"/metadata/annotations"}]',
  '[{"op":"copy","from":"/spec","path":"/status/spec"},{"op":"replace","path":"/spec/containers/-1/name","value":null}]',
  '[{"op":"add","path":"/spec/containers/-","value":{"name":"~0~1"}},{"op":"add","path":"","value":{}}]',
];
const patchWords = [
  ...jsonWords,
  '"/spec/containers/0"',
  '"/__proto__/x"',
  '"/constructor/prototype"',
  '/-',
  '/00',
  '/1e0',
  '~0',
  '~1',
  '~2',
  '"op":"move"',
  '"from":""',
  '"path":""',
];

test('JSON patches change a document or are refused, and leave the one they were given as it was', () =>
  fuzz({
    name: 'json-patch',
    corpus: patchCorpus,
    words: patchWords,
    check(input) {
      const document = JSON.parse(JSON.stringify(pod)) as JsonValue;
      const before = jsonText(document);
      const changed = attempt(() => readJsonPatch(input)(document), ApiError);
      expect(jsonText(document)).toBe(before);
      expect(({} as Record<string, unknown>).x).toBeUndefined();
      if (changed === undefined) return;
      const naive = naivePatch(JSON.parse(before), input);
      if (naive !== undefined) deepStrictEqual(asNumbers(changed), naive);
    },
  }));

/** RFC 6902 in a few lines, for patches that use nothing but its rules; undefined for others. */
function naivePatch(document: unknown, body: Buffer): unknown {
  const operations = asNumbers(parseJson(body)) as { op: string; path: string; from?: string; value?: unknown }[];
  if (!Array.isArray(operations)) return undefined;
  let root = document as Record<string, unknown>;
  const tokens = (pointer: string): string[] =>
    pointer
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const isPlain = (pointer: unknown): pointer is string => typeof pointer === 'string' && /^(\/([a-z]+|0|[1-9][0-9]*))+$/i.test(pointer);
  for (const { op, path, from, value } of operations) {
    if (!isPlain(path) || !['add', 'remove'].includes(op) || from !== undefined || (op === 'add' && value === undefined)) return undefined;
    const steps = tokens(path);
    const last = steps.pop() as string;
    let at = root as Record<string, unknown>;
    for (const step of steps) {
      if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
      at = at[step] as Record<string, unknown>;
    }
    if (typeof at !== 'object' || at === null || last === 'length') return undefined;
    if (Array.isArray(at)) {
      const index = Number(last);
      if (!Number.isInteger(index) || index > at.length) return undefined;
      if (op === 'add') at.splice(index, 0, structuredClone(value));
      else at.splice(index, 1);
    } else if (op === 'add')
      Object.defineProperty(at, last, { value: structuredClone(value), enumerable: true, writable: true, configurable: true });
    else if (Object.hasOwn(at, last)) delete at[last];
    else return undefined;
    root = document as Record<string, unknown>;
  }
  return JSON.parse(jsonText(root));
}

/** RFC 7396, word for word. */
function naiveMerge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const base = typeof target === 'object' && target !== null && !Array.isArray(target) ? target : {};
  const merged = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, naiveMerge(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}
const mergeCorpus = [
  '{"metadata":{"labels":{"app":null,"new":"x"}},"spec":{"containers":[]}}',
  '{"spec":{"tolerations":[{"key":"a"}],"x":{"y":{"z":null}}}}',
  '{"a":{"__proto__":{"polluted":true}}}',
];

test('merge patches do what the standard says', () =>
  fuzz({
    name: 'merge-patch',
    corpus: mergeCorpus,
    words: jsonWords,
    check(input) {
      const document = JSON.parse(JSON.stringify(pod)) as JsonValue;
      const changed = attempt(() => ({ value: readMergePatch(input)(document) }), ApiError);
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      if (changed === undefined || /\\u[dD][89a-fA-F]/.test(input.toString())) return;
      deepStrictEqual(asNumbers(changed.value), asNumbers(naiveMerge(document, asNumbers(parseJson(input)))));
    },
  }));

test('strategic patches are applied or refused', () =>
  fuzz({
    name: 'strategic-patch',
    corpus: [
      ...mergeCorpus,
      '{"spec":{"containers":[{"name":"main","image":"x","$patch":"delete"}],"$setElementOrder/containers":[{"name":"main"}]}}',
      '{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"labels":{"$patch":"replace","a":"b"},"$retainKeys":["a"]}}',
    ],
    words: [
      ...jsonWords,
      '"$patch":"delete"',
      '"$patch":"merge"',
      '"$patch":7',
      '"$retainKeys":[]',
      '"$setElementOrder/containers":[]',
      '"$deleteFromPrimitiveList/finalizers":["x"]',
      '"name":null',
    ],
    check(input) {
      const document = JSON.parse(JSON.stringify(pod)) as JsonValue;
      const before = JSON.stringify(document);
      attempt(() => readStrategicPatch(Pod, input)(document), ApiError);
      expect(JSON.stringify(document)).toBe(before);
    },
  }));

// ---- selectors, patterns, paths --------------------------------------------------------------------------------------

const someLabels: Record<string, string>[] = [
  {},
  { app: 'web' },
  { app: 'db', 'example.com/tier': 'front' },
  { tier: '5', app: '' },
  { constructor: 'x' },
];

test('label selectors select what their requirements say', () =>
  fuzz({
    name: 'label-selector',
    corpus: [
      'app=web',
      'app==web,tier!=5',
      'app in (web, db),!gone',
      'tier>4,tier<6',
      'example.com/tier notin (a),app',
      'a=,b in (,x)',
      '!constructor',
    ],
    words: ['=', '==', '!=', ' in (', ')', 'notin', ',', '!', '<', '>', '(', ' ', 'app', 'a/b/c', '5', '-', '\t', 'é'],
    check(input) {
      const text = input.toString('utf8');
      const selector = attempt(() => parseLabelSelector(text), ApiError);
      if (selector === undefined) return;
      const again = parseLabelSelector(String(selector));
      expect(String(again)).toBe(String(selector));
      for (const labels of someLabels) {
        const naive = selector.requirements.every(({ key, operator, values }) => {
          const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
          switch (operator) {
            case 'exists':
              return value !== undefined;
            case '!':
              return value === undefined;
            case '!=':
            case 'notin':
              return value === undefined || !values.includes(value);
            case 'gt':
              return value !== undefined && /^[+-]?\d+$/.test(value) && BigInt(value) > BigInt(values[0] as string);
            case 'lt':
              return value !== undefined && /^[+-]?\d+$/.test(value) && BigInt(value) < BigInt(values[0] as string);
            default:
              return value !== undefined && values.includes(value);
          }
        });
        expect(selector.matches(labels)).toBe(naive);
      }
    },
  }));

test('field selectors are read or refused, and read back as they were written', () =>
  fuzz({
    name: 'field-selector',
    corpus: ['metadata.name=a', 'spec.nodeName!=,status.phase==Running', 'a=b\\,c,d=e\\=f\\\\'],
    words: ['=', '==', '!=', ',', '\\', '\\,', '\\x', 'metadata.name', ' '],
    check(input) {
      const selector = attempt(() => parseFieldSelector(input.toString('utf8')), ApiError);
      if (selector === undefined) return;
      // Terms are ordered as they were written (`a==b` before `a=b`), which is not how the canonical form orders them.
      const inOrder = ({ requirements }: FieldSelector) => requirements.map((one) => JSON.stringify(one)).sort();
      expect(inOrder(parseFieldSelector(String(selector)))).toEqual(inOrder(selector));
    },
  }));

test('patterns find what the engine finds, where both understand them', () =>
  fuzz({
    name: 'pattern',
    corpus: ['^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', '(a|b)*c', '^\\d{1,3}(\\.\\d{1,3}){3}$', '[^x-z]+', 'a+?b{2}', '(?:ab)|[.]'],
    words: [
      '(',
      ')',
      '[',
      ']',
      '{2}',
      '{0,3}',
      '*',
      '+',
      '?',
      '|',
      '^',
      '$',
      '.',
      '\\d',
      '\\w',
      '\\s',
      '\\b',
      'a',
      'b',
      'c-',
      '[a-c]',
      '(?:',
      '(?i)',
      '\\',
      '{1000}',
    ],
    check(input, random) {
      const text = input.toString('latin1').replace(/[^\x20-\x7e]/g, 'a');
      const ours = attempt(() => compilePattern(text), PatternError);
      if (ours === undefined) return;
      // Where the languages differ, or the engine's own search might not end soon, there is nothing to compare.
      if (/\(\?[^:]|\[\[:|\\[^dws.\-\\/()[\]{}*+?|^$]|\{|\[\^?\]|[*+?][*+?]|\)[*+?]|[sS]/.test(text)) return;
      let theirs: RegExp;
      try {
        theirs = new RegExp(text, 'u');
      } catch {
        return;
      }
      for (let i = 0; i < 8; i++) {
        const subject = Array.from({ length: random.below(9) }, () => 'abcx-.019 '[random.below(10)]).join('');
        expect([subject, ours.test(subject)]).toEqual([subject, theirs.test(subject)]);
      }
    },
  }));

test('paths lead to values within the object, or are refused', () =>
  fuzz({
    name: 'json-path',
    corpus: [
      '.spec.containers[0].name',
      ".metadata.labels['example.com/tier']",
      '..name',
      '.status.conditions[?(@.type=="Ready")].status',
      '.spec.containers[*].ports[::-1]',
      '.metadata.labels.example\\.com/tier',
      ".spec['a','b']",
    ],
    words: [
      '.',
      '..',
      '[',
      ']',
      '*',
      '[0]',
      '[-1]',
      '[1:3]',
      '[::2]',
      '?(',
      ')',
      '@',
      "'",
      '"',
      '==',
      '!=',
      '<',
      '>=',
      '\\',
      ',',
      '$',
      '{',
      '}',
      '[9999999999999]',
    ],
    check(input) {
      const path = attempt(() => jsonPath(input.toString('utf8')), JsonPathError);
      if (path === undefined) return;
      const inside = new Set<unknown>();
      const walk = (value: unknown): void => {
        inside.add(value);
        if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) walk(item);
      };
      walk(pod);
      // A path may also be a constant: a number or a text in quotes.
      for (const found of path(pod)) expect(inside.has(found) || typeof found === 'number' || typeof found === 'string').toBe(true);
    },
  }));

test('quantities and times have one canonical form', () =>
  fuzz({
    name: 'scalars',
    corpus: ['1500m', '1.5Gi', '12e3', '-0.001', '2024-05-01T10:00:00.123456+02:00', '1E', '0', '+5u', '1969-12-31T23:59:59Z'],
    words: ['0', '9', '.', 'e', 'E', 'm', 'Ki', '+', '-', 'T', 'Z', ':', '24', '60', '00', '9'.repeat(40), 'n'],
    check(input) {
      const text = input.toString('latin1');
      for (const [canonical, error] of [
        [canonicalQuantity, QuantityError],
        [canonicalTime, TimeError],
        [canonicalMicroTime, TimeError],
      ] as const) {
        const once = attempt(() => canonical(text), error);
        if (once !== undefined) expect(canonical(once)).toBe(once);
      }
    },
  }));

// ---- requests --------------------------------------------------------------------------------------------------------

test('paths and Accept headers are understood or refused', () => {
  const negotiator = new Negotiator(kubernetes);
  return fuzz({
    name: 'request-line',
    corpus: [
      '/api/v1/namespaces/default/pods/web/log?follow=true',
      '/apis/apps/v1/watch/namespaces/a/deployments',
      '/apis/example.com/v1/widgets?watch=1&fieldSelector=metadata.name%3Da',
      'application/json;as=Table;g=meta.k8s.io;v=v1,application/json;q=0.5',
      'application/vnd.kubernetes.protobuf, */*;q=0',
      'text/html;level="1;2", application/yaml',
    ],
    words: [
      '/',
      '//',
      '..',
      '.',
      '%2f',
      '%',
      '%00',
      '?',
      '&',
      '=',
      ';',
      ',',
      'q=',
      '"',
      '*/*',
      'watch',
      'namespaces',
      '__proto__',
      'proxy',
      '\u00e9',
    ],
    check(input) {
      const text = input.toString('utf8');
      const [path = '', search = ''] = text.split('?');
      const query = new URLSearchParams(search);
      for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'X'])
        requestInfo(method, `/${path}`, (name) => query.get(name) ?? undefined);
      parseAccept(text);
      attempt(
        () => negotiator.negotiate(text, { media: ['json', 'yaml', 'protobuf'], transforms: ['Table'], protobuf: true } as never),
        ApiError,
      );
    },
  });
});

// ---- certificates and tokens -----------------------------------------------------------------------------------------

const now = Date.now();
const authority = readAuthority(newAuthority('fuzz-ca', now));
const client = new X509Certificate(issueClient(authority, 'jane', ['dev'], now).certificate);
const serving = new X509Certificate(issueServing(authority, { commonName: 'a', dns: ['a.example'], addresses: ['::1'] }, now).certificate);

test('certificates are read or refused, and a changed one is not signed by its CA', () =>
  fuzz({
    name: 'certificate',
    runs: 700,
    corpus: [client.raw, serving.raw],
    words: ['\x30\x80', '\x30\x00', '\x02\x01\x00', '\x06\x03\x55\x1d\x13', '\x01\x01\xff', '\xa3', '\x04\x84\xff\xff\xff\xff', '\x17\x0d'],
    check(input) {
      let parsed: X509Certificate;
      try {
        parsed = readBundle(toPem('CERTIFICATE', input))[0] as X509Certificate;
      } catch {
        return;
      }
      attempt(() => subjectOf(parsed), DerError);
      if (isIssuedByNamesake(parsed, [authority.certificate], now)) expect(serving.raw.equals(parsed.raw)).toBe(true);
      // As a CA of a bundle, which users write.
      expect(isIssuedByNamesake(serving, [parsed], now)).toBe(false);
    },
  }));

test('certificate requests are read or refused', () => {
  const pair = newKeyPair();
  const pem = makeRequest({ commonName: 'jane', organizations: ['dev'] } as never, pair as never) as unknown as string;
  const der = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  return fuzz({
    name: 'certificate-request',
    runs: 700,
    corpus: [der],
    words: ['\x30\x80', '\xa0\x00', '\x31\x00', '\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x09\x0e', '\x0c\x00', '\x13\x01\xff'],
    check(input) {
      const request = attempt(() => parseRequest(toPem('CERTIFICATE REQUEST', input)), DerError);
      if (request?.signed) expect(input.equals(der)).toBe(true);
    },
  });
});

test('tokens are believed exactly where another library believes them', async () => {
  const { privateKey, publicKey } = newKeyPair();
  const claims = [
    { sub: 'jane', exp: 4_000_000_000 },
    { sub: 'june', aud: ['a'], nbf: 1 },
  ];
  const corpus = await Promise.all(claims.map((one) => signJwt(one, privateKey)));
  return fuzz({
    name: 'jwt',
    runs: 500,
    corpus,
    words: ['.', '..', '=', 'e30', 'eyJhbGciOiJub25lIn0', '\n', '+', '/', 'A', '%'],
    async check(input) {
      const token = input.toString('latin1');
      const jwt = parseJwt(token);
      const ours = jwt !== undefined && isSignedBy(jwt, publicKey, ['ES256']);
      const theirs = await jwtVerify(token, publicKey, { algorithms: ['ES256'], currentDate: new Date(1_000_000_000_000) }).then(
        () => true,
        () => false,
      );
      // The other library also forgives white space and padding; nobody is let in by that here.
      if (ours) expect(theirs).toBe(true);
      if (theirs && corpus.includes(token)) expect(ours).toBe(true);
    },
  });
});

// ---- what other services answer ----------------------------------------------------------------------------------------

test('messages of etcd are read or refused', () => {
  const keyspace = { root: '/r/', keyOf: (key: string) => key } as never;
  return fuzz({
    name: 'etcd-message',
    corpus: [
      Buffer.from('0a0a08c8f0b3e0a8f2c3101002', 'hex'),
      Buffer.from('0a0408011002120e0a032f722f10051805200128012a0178180120012801', 'hex'),
    ],
    words: ['\x0a\x02\x08\x01', '\x12\x80', '\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01', '\x2a\x00', '\x08', '\x12\xff\xff\xff\xff\x07'],
    check(input) {
      for (const method of [rangeMethod(keyspace), getsMethod('/registry/'), transaction, putMethod, memberStatus]) {
        attempt(() => method.decode(input), RangeError);
      }
    },
  });
});
