import { newAuthority } from '@plat-dev/pki';
import { expect, test } from 'vitest';
import { APIServiceKind } from '../apiregistration/api-service.ts';
import { create, type Loose, testEnv, update } from '../validation/kinds.testing.ts';
import { MutatingWebhookConfigurationKind } from './mutating-webhook-configuration.ts';
import { ValidatingWebhookConfigurationKind } from './validating-webhook-configuration.ts';

const like = (texts: string[]): Loose[] => texts.map((text) => expect.stringContaining(text));
const good = { name: 'a.b.example.com', clientConfig: { url: 'https://h/x' }, sideEffects: 'None', admissionReviewVersions: ['v1'] };
const errorsOf = (...hooks: Loose[]): string[] =>
  create(MutatingWebhookConfigurationKind, { metadata: { name: 'c' }, webhooks: hooks.map((hook) => ({ ...good, ...hook })) }).errors;

test('a webhook gets the usual answers to what it does not say', () => {
  const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }];
  const { object, errors } = create(ValidatingWebhookConfigurationKind, {
    metadata: { name: 'c' },
    webhooks: [{ ...good, rules, clientConfig: { service: { namespace: 'n', name: 's' } } }],
  });
  expect(errors).toEqual([]);
  expect(object.webhooks[0]).toMatchObject({
    failurePolicy: 'Fail',
    matchPolicy: 'Equivalent',
    timeoutSeconds: 10,
    namespaceSelector: {},
    objectSelector: {},
  });
  expect(object.webhooks[0].rules[0].scope).toBe('*');
  expect(object.webhooks[0].clientConfig.service.port).toBe(443);
  expect(ValidatingWebhookConfigurationKind.cells?.(object as never, testEnv)).toEqual(['c', 1, '27h']);
});

test.each<[string, Loose, string[]]>([
  ['names', { name: 'two.parts' }, ['webhooks[0].name | Invalid']],
  ['effects', { sideEffects: undefined }, ['webhooks[0].sideEffects | Required | Required value: must specify one of None, NoneOnDryRun']],
  ['known effects', { sideEffects: 'Some' }, ['webhooks[0].sideEffects | NotSupported']],
  ['words', { failurePolicy: 'x', matchPolicy: 'x', reinvocationPolicy: 'x' }, ['failurePolicy', 'matchPolicy', 'reinvocationPolicy']],
  ['a time', { timeoutSeconds: 31 }, ['webhooks[0].timeoutSeconds | Invalid']],
  ['versions', { admissionReviewVersions: [] }, ['admissionReviewVersions | Required']],
  [
    'known versions',
    { admissionReviewVersions: ['v2', 'v2', 'V_1'] },
    ['[1] | Invalid | Invalid value: "v2": duplicate version', '[2] | Invalid', 'must include at least one of v1, v1beta1'],
  ],
  [
    'selectors',
    { objectSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    ['objectSelector.matchExpressions[0].values | Required'],
  ],
  ['one place', { clientConfig: {} }, ['clientConfig | Required']],
])('a webhook needs %s', (_name, change, texts) => {
  expect(errorsOf(change)).toEqual(like(texts));
});

test('names of webhooks differ', () => {
  expect(errorsOf({}, {})).toEqual(like(['webhooks[1].name | Duplicate']));
});

test.each<[string, string[]]>([
  ['https://h:8443/x', []],
  ['http://h', ['Invalid value: "http": \'https\' is the only allowed URL scheme']],
  [
    'https://u:p@/x?q#f',
    [
      'host must be provided',
      'Invalid value: "u:p": user information',
      'Invalid value: "f": fragments',
      'Invalid value: "q": query parameters',
    ],
  ],
  ['%%bad', ['url | Required | Required value: url must be a valid URL: parse "%%bad": invalid URL escape "%%b"']],
  ['https://h:port/', ['invalid port ":port" after host']],
])('the URL %s', (url, texts) => {
  expect(errorsOf({ clientConfig: { url } })).toEqual(like(texts));
});

test.each<[string, string[]]>([
  ['/', []],
  ['/a/b/', []],
  ['nolead', ["must start with a '/'"]],
  ['//', ['segment[0] may not be empty']],
  ['/a//B', ['segment[1] may not be empty', 'segment[2]: a lowercase']],
])('the path %s of a service', (path, texts) => {
  expect(errorsOf({ clientConfig: { service: { namespace: 'n', name: 's', path } } })).toEqual(like(texts));
});

const all = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'] };
test.each<[string, Loose, string[]]>([
  ['everything', {}, ['operations | Required', 'apiGroups | Required', 'apiVersions | Required', 'resources | Required']],
  [
    'stars alone',
    { operations: ['*', 'CREATE'], apiGroups: ['*', 'a'], apiVersions: ['*', 'v1'], resources: ['x'] },
    ['operations | Invalid', 'apiGroups | Invalid', 'apiVersions | Invalid'],
  ],
  ['all parts, and one of them', { ...all, resources: ['pods/*', 'pods/status'] }, ["if 'pods/*' is present"]],
  ['a part of all, and of one', { ...all, resources: ['*/status', 'pods/status'] }, ["if '*/status' is present"]],
  ['all, and one', { ...all, resources: ['*', 'pods'] }, ["if '*' is present, must not specify other resources without subresources"]],
  ['all of all', { ...all, resources: ['*/*', 'pods'] }, ["if '*/*' is present"]],
  ['what does not overlap', { ...all, resources: ['pods', 'pods/*', '*/scale'] }, []],
  ['scopes', { ...all, resources: ['pods'], scope: 'Here' }, ['scope | NotSupported']],
])('rules: %s', (_name, rule, texts) => {
  expect(errorsOf({ rules: [rule] })).toEqual(like(texts));
});

// ---- API services ------------------------------------------------------------------------------------------------

const service = (spec: Loose, name = 'v1.example.com'): Loose => ({
  metadata: { name },
  spec: { group: 'example.com', version: 'v1', groupPriorityMinimum: 10, versionPriority: 5, ...spec },
});
const behind = { namespace: 'n', name: 's' };

test('a group version that is served here is available at once, one behind a service is not', () => {
  const here = create(APIServiceKind, service({}));
  expect(here.errors).toEqual([]);
  expect(APIServiceKind.cells?.(here.object as never, testEnv)).toEqual(['v1.example.com', 'Local', 'True', '27h']);
  const there = create(APIServiceKind, { ...service({ service: behind, insecureSkipTLSVerify: true }), status: here.object.status });
  expect(there.errors).toEqual([]);
  expect(APIServiceKind.cells?.(there.object as never, testEnv)).toEqual(['v1.example.com', 'n/s', 'Unknown', '27h']);
  const status = { conditions: [{ type: 'Available', status: 'False', reason: 'MissingEndpoints' }] };
  const told = update(APIServiceKind, there.object, (o) => Object.assign(o, { status }), 'status');
  expect(APIServiceKind.cells?.(told.object as never, testEnv)?.[2]).toBe('False (MissingEndpoints)');
  expect(
    update(APIServiceKind, there.object, (o) => Object.assign(o, { status: { conditions: [{ type: 'A', status: 'x' }] } }), 'status')
      .errors,
  ).toEqual(like(['status.conditions[0].status | NotSupported']));
});

test.each<[string, Loose, string[]]>([
  ['another name', service({}, 'v2.example.com'), ['metadata.name | Invalid']],
  ['no group', service({ group: '', version: 'v2' }, 'v2.'), ['spec.group | Required']],
  [
    'priorities',
    service({ groupPriorityMinimum: 20_001, versionPriority: 0 }),
    ['groupPriorityMinimum | Invalid', 'versionPriority | Invalid'],
  ],
  [
    'a bundle for itself',
    service({ caBundle: 'YQ==', insecureSkipTLSVerify: true }),
    ['Invalid value: "1 bytes"', 'insecureSkipTLSVerify | Invalid'],
  ],
  [
    'a service without names',
    service({ service: { port: 70_000 } }),
    ['service.namespace | Required', 'service.name | Required', 'service.port | Invalid'],
  ],
  [
    'trust and none',
    service({ service: behind, caBundle: 'YQ==', insecureSkipTLSVerify: true }),
    ['may not be true if caBundle is present'],
  ],
])('an API service refuses %s', (_name, body, texts) => {
  expect(create(APIServiceKind, body).errors).toEqual(like(texts));
});

test('a URL with the name of a service, and a bundle that is no PEM, are taken with a warning', () => {
  const warned = (clientConfig: Loose) =>
    create(ValidatingWebhookConfigurationKind, { metadata: { name: 'c' }, webhooks: [{ ...good, clientConfig }] });
  const url = 'https://hook.ns.svc/x';
  expect(warned({ url })).toMatchObject({
    errors: [],
    warnings: [expect.stringMatching(/^webhooks\[0\]\.clientConfig\.url: names a service/)],
  });
  expect(warned({ url: 'https://hook.ns.svc.cluster.local:8443/' }).warnings).toHaveLength(1);
  const junk = Buffer.from('junk').toString('base64');
  expect(warned({ url: 'https://h/x', caBundle: junk })).toMatchObject({
    errors: [],
    warnings: ['webhooks[0].clientConfig.caBundle: the caBundle is malformed: it holds no PEM certificate, so that calls will fail'],
  });
  const caBundle = Buffer.from(newAuthority('a', Date.now()).certificate).toString('base64');
  expect(warned({ url: 'https://h.example.com/x', caBundle }).warnings).toEqual([]);
});
