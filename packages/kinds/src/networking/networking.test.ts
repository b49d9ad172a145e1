import { expect, test } from 'vitest';
import { create, type Loose, shown, testEnv, update } from '../validation/kinds.testing.ts';
import { IngressKind } from './ingress.ts';
import { IngressClassKind } from './ingress-class.ts';
import { NetworkPolicyKind } from './network-policy.ts';

const like = (texts: string[]): Loose[] => texts.map((text) => expect.stringContaining(text));
const backend = { service: { name: 'web', port: { number: 80 } } };
const ingress = (spec: Loose, metadata: Loose = {}): Loose => ({ metadata: { name: 'i', ...metadata }, spec });
const paths = (...list: Loose[]): Loose => ingress({ rules: [{ http: { paths: list.map((path) => ({ backend, ...path })) } }] });

test.each<[string, Loose, string[]]>([
  ['nothing to do', ingress({}), ['spec | Invalid | Invalid value: []networking.IngressRule(nil)']],
  ['two backends', ingress({ defaultBackend: { ...backend, resource: { kind: 'K', name: 'n' } } }), ['spec.defaultBackend | Invalid']],
  [
    'a service without a port',
    ingress({ defaultBackend: { service: { name: 'Up', port: {} } } }),
    ['spec.defaultBackend.service.name | Invalid', 'spec.defaultBackend | Required | Required value: port name or number is required'],
  ],
  ['no type of path', paths({ path: '/' }), ['spec.rules[0].http.paths[0].pathType | Required']],
  [
    'paths that servers read differently',
    paths({ path: 'a', pathType: 'Prefix' }, { path: '/a//b/..', pathType: 'Exact' }, { path: '/x', pathType: 'Regex' }),
    [
      '[0].path | Invalid | Invalid value: "a": must be an absolute path',
      "must not contain '//'",
      "cannot end with '/..'",
      '[2].pathType | NotSupported',
    ],
  ],
  [
    'any path, if the controller says so',
    paths({ path: '', pathType: 'ImplementationSpecific' }, { path: '/a//b', pathType: 'ImplementationSpecific' }),
    [],
  ],
  [
    'hosts',
    ingress({ rules: [{ host: '1.2.3.4' }, { host: 'a.*.com' }, { host: 'Up' }] }),
    ['rules[0].host | Invalid | Invalid value: "1.2.3.4": must be a DNS name', 'rules[1].host | Invalid', 'rules[2].host | Invalid'],
  ],
])('an ingress: %s', (_name, body, texts) => {
  expect(create(IngressKind, body).errors).toEqual(like(texts));
});

test('an ingress names its class once, but one that names it twice may stay', () => {
  const annotations = { 'kubernetes.io/ingress.class': 'a' };
  const twice = ingress({ ingressClassName: 'a', defaultBackend: backend }, { annotations });
  expect(create(IngressKind, twice).errors).toEqual(like(['annotations.kubernetes.io/ingress.class | Invalid']));
  const { object } = create(IngressKind, ingress({ defaultBackend: backend }, { annotations }));
  expect(update(IngressKind, object, (o) => Object.assign(o.spec, { ingressClassName: 'b' })).errors).toEqual([]);
});

test('faults that older releases let in may stay: names of secrets, rules for wildcards', () => {
  const good = create(IngressKind, ingress({ defaultBackend: backend })).object;
  const stored = { ...good, spec: { tls: [{ secretName: 'Bad_Name' }], rules: [{ host: '*.a.com', http: { paths: [] } }] } };
  expect(update(IngressKind, stored, (o) => Object.assign(o.metadata, { labels: { a: 'b' } })).errors).toEqual([]);
  expect(update(IngressKind, good, (o) => Object.assign(o.spec, stored.spec)).errors).toEqual(
    like(['spec.rules[0].http.paths | Required', 'spec.tls[0].secretName | Invalid']),
  );
});

test('the status of an ingress is its own', () => {
  const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
  const { object } = create(IngressKind, { ...ingress({ defaultBackend: backend }), status });
  expect(object.status).toEqual({ loadBalancer: {} });
  const told = update(IngressKind, object, (o) => Object.assign(o, { status, spec: {} }), 'status');
  expect(told.errors).toEqual([]);
  expect(told.object.spec).toEqual(object.spec);
  expect(update(IngressKind, told.object, (o) => Object.assign(o, { status: { loadBalancer: {} } })).object.status).toEqual(status);
  const wrong = { loadBalancer: { ingress: [{ ip: 'x', hostname: '10.0.0.1' }] } };
  expect(update(IngressKind, object, (o) => Object.assign(o, { status: wrong }), 'status').errors).toEqual(
    like(['status.loadBalancer.ingress[0].ip | Invalid', 'ingress[0].hostname | Invalid | Invalid value: "10.0.0.1": must be a DNS name']),
  );
});

test('a row of an ingress', () => {
  const rules = ['a', 'b', 'c', 'd'].map((host) => ({ host: `${host}.example.com` }));
  const { object } = create(IngressKind, ingress({ ingressClassName: 'k', tls: [{}], rules }));
  object.status = { loadBalancer: { ingress: [{ hostname: 'z' }, { ip: '192.0.2.1' }] } };
  expect(IngressKind.cells?.(object as never, testEnv)).toEqual([
    'i',
    'k',
    'a.example.com,b.example.com,c.example.com + 1 more...',
    '192.0.2.1,z',
    '80, 443',
    '27h',
  ]);
  const bare = create(IngressKind, ingress({ defaultBackend: backend })).object;
  expect(IngressKind.cells?.(bare as never, testEnv)?.slice(1, 5)).toEqual(['<none>', '*', '', '80']);
});

test.each<[string, Loose, string[]]>([
  ['no controller', {}, ['spec.controller | Required']],
  ['a long controller', { controller: `a.b/${'c'.repeat(250)}` }, ['spec.controller | TooLong']],
  [
    'no namespace',
    { controller: 'a.b/c', parameters: { kind: 'K', name: 'n', scope: 'Namespace' } },
    ['spec.parameters.namespace | Required'],
  ],
  [
    'a namespace too many',
    { controller: 'a.b/c', parameters: { kind: 'K', name: 'n', namespace: 'x' } },
    ['spec.parameters.namespace | Forbidden'],
  ],
  [
    'an odd scope',
    { controller: 'a.b/c', parameters: { kind: 'K', name: 'n', scope: 'Galaxy' } },
    ['spec.parameters.scope | NotSupported'],
  ],
])('an ingress class: %s', (_name, spec, texts) => {
  expect(create(IngressClassKind, { metadata: { name: 'c' }, spec }).errors).toEqual(like(texts));
});

test('an ingress class keeps its controller', () => {
  const { object } = create(IngressClassKind, {
    metadata: { name: 'c' },
    spec: { controller: 'a.b/c', parameters: { kind: 'K', name: 'n' } },
  });
  expect(object.spec.parameters.scope).toBe('Cluster');
  expect(update(IngressClassKind, object, (o) => Object.assign(o.spec, { controller: 'a.b/d' })).errors).toEqual(
    like(['spec.controller | Invalid | Invalid value: "a.b/d": field is immutable']),
  );
});

const policy = (spec: Loose): Loose => ({ metadata: { name: 'p' }, spec: { podSelector: {}, ...spec } });

test.each<[string, Loose, string[]]>([
  ['incoming traffic', {}, ['Ingress']],
  ['outgoing traffic too, where there are rules for it', { egress: [{}] }, ['Ingress', 'Egress']],
  ['what it says', { egress: [{}], policyTypes: ['Egress'] }, ['Egress']],
])('a network policy is about %s', (_name, spec, types) => {
  const { object, errors } = create(NetworkPolicyKind, policy(spec));
  expect(errors).toEqual([]);
  expect(object.spec.policyTypes).toEqual(types);
});

test.each<[string, Loose, string[]]>([
  [
    'ports',
    {
      ingress: [
        {
          ports: [
            { port: 0 },
            { port: 'Bad_Name' },
            { protocol: 'ICMP' },
            { endPort: 9 },
            { port: 10, endPort: 9 },
            { port: 'dns', endPort: 9 },
          ],
        },
      ],
    },
    [
      'ports[0].port | Invalid',
      'ports[1].port | Invalid',
      'ports[2].protocol | NotSupported',
      'ports[3].endPort | Invalid',
      'ports[4].endPort | Invalid | Invalid value: 10: must be greater',
      'ports[5].endPort | Invalid',
    ],
  ],
  [
    'peers',
    { egress: [{ to: [{}, { podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }, { ipBlock: { cidr: 'x' } }, { ipBlock: { cidr: '' } }] }] },
    ['to[0] | Required', 'to[1] | Forbidden', 'to[2].ipBlock.cidr | Invalid', 'to[3].ipBlock.cidr | Required'],
  ],
  [
    'holes in a block',
    { ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/16', except: ['11.0.0.0/24', '10.0.0.0/8', '10.0.1.0/24'] } }] }] },
    ['except[0] | Invalid', 'except[1] | Invalid'],
  ],
  ['types', { policyTypes: ['Ingress', 'Sideways'] }, ['spec.policyTypes[1] | NotSupported']],
  [
    'too many types',
    { policyTypes: ['Ingress', 'Egress', 'Ingress'] },
    ['spec.policyTypes | Invalid | Invalid value: []networking.PolicyType{"Ingress", "Egress", "Ingress"}'],
  ],
])('a network policy refuses %s', (_name, spec, texts) => {
  expect(create(NetworkPolicyKind, policy(spec)).errors).toEqual(like(texts));
});

test('a changed network policy tells each fault twice, as clients know it', () => {
  const { object } = create(NetworkPolicyKind, policy({ ingress: [{ ports: [{ port: 80 }] }] }));
  expect(shown(NetworkPolicyKind, object).spec.ingress[0].ports).toEqual([{ protocol: 'TCP', port: 80 }]);
  const { errors } = update(NetworkPolicyKind, object, (o) => Object.assign(o.spec, { policyTypes: ['Sideways'] }));
  expect(errors).toEqual(like(['spec.policyTypes[0] | NotSupported', 'spec.policyTypes[0] | NotSupported']));
});
