/** Rules, defaults and rows of services. What is given out has its own tests in `registry/allocate`. */
import { describe, expect, test } from 'vitest';
import { create, defaulted, type Loose, testEnv, update } from '../../validation/kinds.testing.ts';
import { ServiceKind } from './service.ts';

const ports = [{ port: 80 }];
const address = { clusterIP: '10.0.0.5', clusterIPs: ['10.0.0.5'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' };
const errorsOf = (spec: Loose, metadata: Loose = {}): string[] => create(ServiceKind, { metadata, spec: { ports, ...spec } }).errors;
const stored = (spec: Loose = {}): Loose => create(ServiceKind, { spec: { ports, ...address, ...spec } }).object;
const changed = (old: Loose, spec: Loose): { object: Loose; errors: string[] } =>
  update(ServiceKind, old, (object) => Object.assign(object.spec, spec));

describe('defaults', () => {
  const specOf = (spec: Loose): Loose => defaulted(ServiceKind, { spec }).spec;
  test('depend on the type', () => {
    expect(specOf({ ports })).toEqual({
      ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      internalTrafficPolicy: 'Cluster',
    });
    expect(specOf({ type: 'NodePort' })).toMatchObject({ externalTrafficPolicy: 'Cluster', internalTrafficPolicy: 'Cluster' });
    expect(specOf({ type: 'LoadBalancer' })).toMatchObject({ allocateLoadBalancerNodePorts: true, externalTrafficPolicy: 'Cluster' });
    expect(specOf({ type: 'ExternalName' })).toEqual({ type: 'ExternalName', sessionAffinity: 'None' });
  });
  test('affinity by client gets a timeout, none drops its settings', () => {
    expect(specOf({ sessionAffinity: 'ClientIP' }).sessionAffinityConfig).toEqual({ clientIP: { timeoutSeconds: 10800 } });
    expect(specOf({ sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } })).not.toHaveProperty('sessionAffinityConfig');
  });
  test('a target that is nothing is the port itself', () => {
    expect(
      specOf({
        ports: [
          { port: 5, targetPort: 0 },
          { port: 6, targetPort: '' },
          { port: 7, targetPort: 'web' },
        ],
      }).ports,
    ).toMatchObject([{ targetPort: 5 }, { targetPort: 6 }, { targetPort: 'web' }]);
  });
});

describe('refusals', () => {
  test.each<[string, Loose, string[]]>([
    ['no ports', { ports: [] }, ['spec.ports | Required | Required value']],
    ['a headless service needs none', { ports: [], clusterIP: 'None', clusterIPs: ['None'] }, []],
    ['an external name needs none', { ports: [], type: 'ExternalName', externalName: 'a.b.' }, []],
    ['no external name', { type: 'ExternalName' }, ['spec.externalName | Required | Required value']],
    [
      'addresses of an external name',
      { type: 'ExternalName', externalName: 'a', ...address },
      ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'].map(
        (field) => `spec.${field} | Forbidden | Forbidden: may not be set for ExternalName services`,
      ),
    ],
    [
      'a headless node port',
      { type: 'NodePort', clusterIP: 'None', clusterIPs: ['None'] },
      ['spec.clusterIPs[0] | Invalid | Invalid value: "None": may not be set to \'None\' for NodePort services'],
    ],
    [
      'the port of agents on a load balancer',
      { type: 'LoadBalancer', ports: [{ port: 10250 }] },
      ['spec.ports[0] | Invalid | Invalid value: 10250: may not expose port 10250 externally since it is used by kubelet'],
    ],
    [
      'a node port without the type',
      { ports: [{ port: 80, nodePort: 30000 }] },
      ["spec.ports[0].nodePort | Forbidden | Forbidden: may not be used when `type` is 'ClusterIP'"],
    ],
    [
      'a node port twice',
      {
        type: 'NodePort',
        ports: [
          { name: 'a', port: 80, nodePort: 30000 },
          { name: 'b', port: 81, nodePort: 30000 },
        ],
      },
      ['spec.ports[1].nodePort | Duplicate | Duplicate value: 30000'],
    ],
    [
      'list without single address',
      { clusterIPs: ['10.0.0.5'] },
      ['spec.clusterIPs | Invalid | Invalid value: []string{"10.0.0.5"}: must be empty when `clusterIP` is not specified'],
    ],
    [
      'addresses that do not agree',
      { clusterIP: '10.0.0.5', clusterIPs: ['10.0.0.6'] },
      ['spec.clusterIPs | Invalid | Invalid value: []string{"10.0.0.6"}: first value must match `clusterIP`'],
    ],
    [
      'two addresses of one family',
      { clusterIP: '10.0.0.5', clusterIPs: ['10.0.0.5', '10.0.0.6'] },
      ['spec.clusterIPs | Invalid | Invalid value: []string{"10.0.0.5", "10.0.0.6"}: may specify no more than one IP for each IP family'],
    ],
    [
      'None among others',
      { clusterIP: 'None', clusterIPs: ['None', '10.0.0.5'] },
      ['spec.clusterIPs | Invalid | Invalid value: []string{"None", "10.0.0.5"}: \'None\' must be the first and only value'],
    ],
    [
      'an address of another family',
      { clusterIP: '10.0.0.5', clusterIPs: ['10.0.0.5'], ipFamilies: ['IPv6'] },
      ['spec.clusterIPs[0] | Invalid | Invalid value: "10.0.0.5": expected an IPv6 value as indicated by `ipFamilies[0]`'],
    ],
    [
      'a health check port without need',
      { type: 'LoadBalancer', healthCheckNodePort: 30000 },
      [
        "spec.healthCheckNodePort | Invalid | Invalid value: 30000: may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ],
    ],
  ])('%s', (_what, spec, errors) => {
    expect(errorsOf(spec)).toEqual(errors);
  });

  test('source ranges in the annotation of old manifests', () => {
    const annotations = { 'service.beta.kubernetes.io/load-balancer-source-ranges': '10.0.0.0/8, nonsense' };
    expect(errorsOf({ type: 'LoadBalancer' }, { annotations })).toEqual([
      'metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges] | Invalid | Invalid value: "10.0.0.0/8, nonsense": must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ',
    ]);
  });
});

describe('changes', () => {
  test('the first address stays', () => {
    expect(changed(stored(), { clusterIP: '10.0.0.6', clusterIPs: ['10.0.0.6'] }).errors).toEqual([
      'spec.clusterIPs[0] | Invalid | Invalid value: []string{"10.0.0.6"}: may not change once set',
    ]);
  });
  test('what the new type does not know goes, unless the client changed it too', () => {
    const old = stored({
      type: 'LoadBalancer',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: 30002,
      loadBalancerClass: 'a.b/c',
      ports: [{ port: 80, nodePort: 30001 }],
    });
    old.status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
    const plain = changed(old, { type: 'ClusterIP' });
    expect(plain.errors).toEqual([]);
    for (const field of ['externalTrafficPolicy', 'healthCheckNodePort', 'loadBalancerClass', 'allocateLoadBalancerNodePorts'])
      expect(plain.object.spec).not.toHaveProperty(field);
    expect(plain.object.spec.ports).toEqual([{ protocol: 'TCP', port: 80, targetPort: 80 }]);
    expect(plain.object.status).toEqual({ loadBalancer: {} });
    const both = changed(old, { type: 'ClusterIP', healthCheckNodePort: 30003, ports: [{ port: 80, nodePort: 30009 }] });
    expect(both.errors.map((text) => text.split(' | ')[0])).toEqual(['spec.ports[0].nodePort', 'spec.healthCheckNodePort']);
  });
  test('to an external name the addresses go', () => {
    const { object, errors } = changed(stored(), { type: 'ExternalName', externalName: 'a.example' });
    expect(errors).toEqual([]);
    for (const field of Object.keys(address)) expect(object.spec).not.toHaveProperty(field);
  });
  test('health check port and class of a load balancer stay', () => {
    const old = stored({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30002, loadBalancerClass: 'a.b/c' });
    expect(changed(old, { healthCheckNodePort: 30003, loadBalancerClass: undefined }).errors).toEqual([
      'spec.loadBalancerClass | Invalid | Invalid value: "null": may not change once set',
      'spec.healthCheckNodePort | Forbidden | Forbidden: field is immutable',
    ]);
  });
  test('status is written apart', () => {
    const { object } = update(ServiceKind, stored(), (service) => Object.assign(service.spec, { sessionAffinity: 'ClientIP' }), 'status');
    expect(object.spec.sessionAffinity).toBe('None');
    const wrong = update(
      ServiceKind,
      stored(),
      (service) => Object.assign(service.status.loadBalancer, { ingress: [{ ip: 'x' }] }),
      'status',
    );
    expect(wrong.errors).toEqual(['status.loadBalancer.ingress[0].ip | Invalid | Invalid value: "x": must be a valid IP address']);
  });
});

describe('rows', () => {
  const row = (spec: Loose, status: Loose = { loadBalancer: {} }): Loose => {
    const { object } = create(ServiceKind, { spec: { ports, ...spec } });
    return ServiceKind.cells?.({ ...object, status } as never, testEnv);
  };
  test.each<[string, Loose, Loose, unknown[]]>([
    [
      'plain',
      { ...address, selector: { b: '2', a: '1' } },
      undefined,
      ['x', 'ClusterIP', '10.0.0.5', '<none>', '80/TCP', '27h', 'a=1,b=2'],
    ],
    [
      'a load balancer that waits',
      { type: 'LoadBalancer', ...address, ports: [{ port: 80, nodePort: 30001 }] },
      undefined,
      ['x', 'LoadBalancer', '10.0.0.5', '<pending>', '80:30001/TCP', '27h', '<none>'],
    ],
    [
      'a load balancer that is there',
      { type: 'LoadBalancer', ...address, externalIPs: ['192.0.2.3'] },
      { loadBalancer: { ingress: [{ ip: '192.0.2.2' }, { hostname: 'a.example' }, { ip: '192.0.2.2' }] } },
      ['x', 'LoadBalancer', '10.0.0.5', '192.0.2.2,a.example,192.0.2.3', '80/TCP', '27h', '<none>'],
    ],
    [
      'elsewhere',
      { type: 'ExternalName', externalName: 'a.b', ports: [] },
      undefined,
      ['x', 'ExternalName', '<none>', 'a.b', '<none>', '27h', '<none>'],
    ],
  ])('%s', (_what, spec, status, cells) => {
    expect(row(spec, status)).toEqual(cells);
  });
});
