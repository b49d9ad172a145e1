import { generateKeyPairSync } from 'node:crypto';
import { plat } from '@plat-dev/meta/identity';
import { makeRequest } from '@plat-dev/pki';
import { expect, test } from 'vitest';
import { create, type Loose, testEnv, update } from '../validation/kinds.testing.ts';
import { CertificateSigningRequestKind as Kind } from './certificate-signing-request.ts';

const like = (texts: string[]): Loose[] => texts.map((text) => expect.stringContaining(text));
const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = makeRequest({ commonName: 'jane', organizations: [] }, keys);
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const request = (spec: Loose = {}): Loose => ({
  metadata: { name: 'r' },
  spec: { request: base64(pem), signerName: 'example.com/mine', usages: ['client auth'], ...spec },
});
const approved = { type: 'Approved', status: 'True', reason: 'r' };

test('a request says who asks, whatever its author wrote', () => {
  const { object, errors } = create(Kind, {
    ...request({ username: 'forged', uid: 'forged', groups: ['forged'], extra: { k: ['v'] } }),
    status: { certificate: 'YQ==' },
  });
  expect(errors).toEqual([]);
  expect(object.spec).toMatchObject({ username: 'alice' });
  expect(object.spec.uid ?? object.spec.groups ?? object.spec.extra).toBeUndefined();
  expect(object.status).toEqual({});
});

test.each<[string, Loose, string[]]>([
  [
    'texts that are no request',
    { request: base64('nonsense') },
    ['Invalid value: []byte{0x6e, 0x6f, 0x6e, 0x73, 0x65, 0x6e, 0x73, 0x65}: PEM block type must be CERTIFICATE REQUEST'],
  ],
  ['no request', { request: undefined }, ['spec.request | Invalid | Invalid value: []byte(nil)']],
  ['no usages', { usages: [] }, ['spec.usages | Required']],
  ['odd usages', { usages: ['flying', 'any', 'any'] }, ['spec.usages[0] | NotSupported', 'spec.usages[2] | Duplicate']],
  ['no signer', { signerName: '' }, ['spec.signerName | Required']],
  [
    'signers without a domain',
    { signerName: 'nodomain' },
    ["must be a fully qualified domain and path of the form 'example.com/signer-name'"],
  ],
  ['signers of one word', { signerName: 'example/x' }, ['should be a domain with at least two segments']],
  ['signers with odd paths', { signerName: 'example.com/X_y' }, ['Invalid value: "X_y": validating label "X_y"']],
  ['the signer of old', { signerName: 'kubernetes.io/legacy-unknown' }, ['the legacy signerName is not allowed']],
  ['a short life', { expirationSeconds: 599 }, ['may not specify a duration less than 600 seconds (10 minutes)']],
])('a signing request refuses %s', (_name, spec, texts) => {
  expect(create(Kind, request(spec)).errors).toEqual(like(texts));
});

test('a request that its own key did not sign is refused', () => {
  const der = Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
  der[der.length - 1] = (der[der.length - 1] as number) ^ 1;
  const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  expect(create(Kind, request({ request: base64(forged) })).errors).toEqual(like(['spec.request | Invalid']));
});

test('signers are named after the identity', () => {
  const env = { ...testEnv, identity: plat };
  expect(create(Kind, request({ signerName: 'plat.dev/legacy-unknown' }), env).errors).toEqual(like(['spec.signerName | Invalid']));
  expect(create(Kind, request({ signerName: 'kubernetes.io/legacy-unknown' }), env).errors).toEqual([]);
});

test('neither what is asked nor what was decided changes with the object', () => {
  const { object } = create(Kind, request());
  const changed = update(Kind, object, (o) =>
    Object.assign(o, { spec: { ...o.spec, usages: ['any'] }, status: { conditions: [approved] } }),
  );
  expect(changed.errors).toEqual([]);
  expect(changed.object).toMatchObject({ spec: object.spec, status: {} });
});

test('a decision passes through approval, is dated, and is not taken back', () => {
  const { object } = create(Kind, request());
  const decide = (...conditions: Loose[]) =>
    update(Kind, object, (o) => Object.assign(o, { status: { conditions, certificate: 'YQ==' } }), 'approval');
  const { object: decided, errors } = decide(approved);
  expect(errors).toEqual([]);
  const now = '2024-01-02T03:04:05Z';
  expect(decided.status).toEqual({ conditions: [{ ...approved, lastUpdateTime: now, lastTransitionTime: now }] });
  expect(decide(approved, { type: 'Denied', status: 'True' }).errors).toEqual(like(['status.conditions[1].type | Invalid']));
  expect(decide({ ...approved, status: 'False' }).errors).toEqual(like(['status.conditions[0].status | NotSupported']));
  expect(update(Kind, decided, (o) => Object.assign(o.status, { conditions: [] }), 'approval').errors).toEqual(
    like(['updates may not remove a condition of type "Approved"']),
  );
  expect(update(Kind, object, (o) => Object.assign(o, { status: { conditions: [approved] } }), 'status').errors).toEqual(
    like(['updates may not add a condition of type "Approved"']),
  );
});

test('a certificate is issued through status, once, and is a certificate', () => {
  const { object } = create(Kind, request());
  const issue = (text: string) => update(Kind, object, (o) => Object.assign(o, { status: { certificate: base64(text) } }), 'status').errors;
  expect(issue('x')).toEqual(like(['must contain at least one CERTIFICATE PEM block']));
  expect(issue(pem)).toEqual(like(['only CERTIFICATE PEM blocks are allowed, found "CERTIFICATE REQUEST"']));
  expect(issue('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')).toEqual(like(['status.certificate | Invalid']));
});

test('a row of a request', () => {
  const { object } = create(Kind, request({ expirationSeconds: 3600 }));
  expect(Kind.cells?.(object as never, testEnv)).toEqual(['r', '27h', 'example.com/mine', 'alice', '60m', 'Pending']);
  object.status = { conditions: [approved, { type: 'Failed', status: 'True' }], certificate: 'YQ==' };
  expect(Kind.cells?.(object as never, testEnv)?.[5]).toBe('Approved,Failed,Issued');
  expect(Kind.fields?.['spec.signerName']?.(object as never)).toBe('example.com/mine');
});
