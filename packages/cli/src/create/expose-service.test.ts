import type { JsonObject } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { type ExposeOptions, exposingService } from './expose-service.ts';

const none: ExposeOptions = {
  name: '',
  port: '',
  protocol: '',
  targetPort: '',
  selector: '',
  labels: '',
  type: '',
  externalIp: '',
  loadBalancerIp: '',
  clusterIp: '',
  sessionAffinity: '',
};
const ports = [{ containerPort: 80 }, { containerPort: 53, protocol: 'UDP' }];
const pod = { kind: 'Pod', metadata: { name: 'p', labels: { app: 'p' } }, spec: { containers: [{ name: 'c', ports }] } };
const service = (object: typeof pod | object, options: Partial<ExposeOptions> = {}) =>
  exposingService({ kind: 'Pod', ...(object as JsonObject) }, { ...none, ...options }) as {
    metadata: object;
    spec: { ports: object[]; selector: object };
  };

test('labels, selector, ports and protocols are those of the object', () => {
  expect(service(pod)).toEqual({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'p', labels: { app: 'p' } },
    spec: {
      ports: [
        { name: 'port-1', port: 80, protocol: 'TCP', targetPort: 80 },
        { name: 'port-2', port: 53, protocol: 'UDP', targetPort: 53 },
      ],
      selector: { app: 'p' },
    },
  });
});

test('selectors and ports of workloads and services', () => {
  const template = { spec: { containers: [{ ports: [{ containerPort: 1 }] }] } };
  const deployment = { kind: 'Deployment', metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
  expect(service(deployment).spec).toEqual({ ports: [{ port: 1, protocol: 'TCP', targetPort: 1 }], selector: { a: 'b' } });
  const controller = { kind: 'ReplicationController', metadata: { name: 'r' }, spec: { selector: { a: 'b' }, template } };
  expect(service(controller).spec.selector).toEqual({ a: 'b' });
  const other = { kind: 'Service', metadata: { name: 's' }, spec: { selector: { c: 'd' }, ports: [{ port: 53, protocol: 'UDP' }] } };
  expect(service(other, { name: 't' })).toMatchObject({
    metadata: { name: 't' },
    spec: { ports: [{ port: 53, protocol: 'UDP' }], selector: { c: 'd' } },
  });
});

test('flags come before what the object has', () => {
  expect(
    service(pod, {
      name: 'n',
      port: '53',
      targetPort: 'dns',
      selector: 'x=y',
      labels: 'l=m',
      type: 'LoadBalancer',
      loadBalancerIp: '1.2.3.4',
      externalIp: '4.3.2.1',
      sessionAffinity: 'ClientIP',
      clusterIp: 'None',
    }),
  ).toEqual({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'n', labels: { l: 'm' } },
    spec: {
      clusterIP: 'None',
      externalIPs: ['4.3.2.1'],
      loadBalancerIP: '1.2.3.4',
      ports: [{ port: 53, protocol: 'UDP', targetPort: 'dns' }],
      selector: { x: 'y' },
      sessionAffinity: 'ClientIP',
      type: 'LoadBalancer',
    },
  });
  expect(service(pod, { port: '53', protocol: 'TCP' }).spec.ports).toEqual([{ port: 53, protocol: 'TCP', targetPort: 53 }]);
});

test.each([
  [{ kind: 'Pod', metadata: { name: 'p' } }, {}, 'the pod has no labels'],
  [{ kind: 'Service', metadata: { name: 's' }, spec: {} }, {}, 'the service has no pod selector'],
  [{ kind: 'Deployment', metadata: { name: 'd' }, spec: { selector: {} } }, {}, 'no selectors'],
  [{ kind: 'Deployment', spec: { selector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'a' }] } } }, {}, 'match expressions'],
  [{ ...pod, spec: { containers: [] } }, {}, "couldn't find port via --port flag or introspection"],
  [pod, { port: '99999' }, 'is not a port'],
  [pod, { selector: 'a' }, 'is not of the form key=value'],
])('%j with %j is refused', (object, options, message) => {
  expect(() => service(object, options)).toThrow(message);
});

test('a headless service needs no port', () => {
  expect(service({ ...pod, spec: { containers: [] } }, { clusterIp: 'None' }).spec.ports).toBeUndefined();
});
