import { describe, expect, test } from 'vitest';
import { containerAmount, podAmounts } from './amounts.ts';
import { probeText } from './containers.ts';
import { tolerationLines } from './pod.ts';
import { compactRules } from './rbac.ts';
import { endpointsText } from './services.ts';
import { longTime, timeWithZone, withoutNulls } from './values.ts';

test('times are in the zone of the machine', () => {
  const at = new Date('2024-05-06T07:08:09Z');
  const minutes = -at.getTimezoneOffset();
  const offset = `${minutes < 0 ? '-' : '+'}${String(Math.floor(Math.abs(minutes) / 60)).padStart(2, '0')}${String(Math.abs(minutes) % 60).padStart(2, '0')}`;
  expect(longTime('2024-05-06T07:08:09Z')).toMatch(/^(Sun|Mon|Tue), 0[567] May 2024 \d\d:\d\d:09 [+-]\d{4}$/);
  expect(longTime('2024-05-06T07:08:09Z').endsWith(offset)).toBe(true);
  expect(timeWithZone('2024-05-06T07:08:09Z')).toMatch(/^2024-05-0[567] \d\d:\d\d:09 [+-]\d{4} \S+$/);
  expect(longTime(undefined)).toBe('Mon, 01 Jan 0001 00:00:00 +0000');
});

test('nulls are taken out at every depth', () => {
  expect(withoutNulls({ a: null, b: [{ c: null, d: 1 }], e: { f: null } })).toEqual({ b: [{ d: 1 }], e: {} });
});

test.each([
  [{ exec: { command: ['a', 'b c'] } }, 'exec [a b c]'],
  [{ httpGet: { scheme: 'HTTP', port: 80, path: '/a b?c' } }, 'http-get http://:80/a%20b%3Fc'],
  [{ httpGet: { scheme: 'HTTPS', host: '::1', port: 'web', path: 'x' } }, 'http-get https://[::1]:web/x'],
  [{ tcpSocket: { port: 5432 } }, 'tcp-socket :5432'],
  [{ grpc: { port: 9, service: '' } }, 'grpc <pod>:9 '],
  [{}, 'unknown'],
])('a probe %j', (probe, text) => {
  const times = { initialDelaySeconds: 1, timeoutSeconds: 2, periodSeconds: 3, successThreshold: 4, failureThreshold: 5 };
  expect(probeText({ ...probe, ...times })).toBe(`${text} delay=1s timeout=2s period=3s #success=4 #failure=5`);
});

test('tolerations', () => {
  expect(
    tolerationLines([
      { operator: 'Exists' },
      { key: 'b', operator: 'Equal', value: 'v', effect: 'NoSchedule' },
      { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    ]),
  ).toEqual(['op=Exists', 'a:NoExecute op=Exists for 300s', 'b=v:NoSchedule']);
});

describe('rules of roles', () => {
  test('one for each resource with all verbs, in the order of the stock client', () => {
    const rules = compactRules([
      { apiGroups: ['apps', ''], resources: ['deployments', 'deployments/scale'], verbs: ['get', 'list'] },
      { apiGroups: ['apps'], resources: ['deployments'], verbs: ['list', 'watch'] },
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b'], verbs: ['get'] },
      { nonResourceURLs: ['/healthz', '/version'], verbs: ['get'] },
    ]);
    expect(rules.map(({ resource, urls, names, verbs }) => [resource, urls, names, verbs])).toEqual([
      ['deployments.apps', [], [], ['get', 'list', 'watch']],
      ['deployments/scale', [], [], ['get', 'list']],
      ['deployments', [], [], ['get', 'list']],
      ['deployments.apps/scale', [], [], ['get', 'list']],
      ['', ['/healthz'], [], ['get']],
      ['', ['/version'], [], ['get']],
      ['secrets', [], ['a'], ['get']],
      ['secrets', [], ['b'], ['get']],
    ]);
  });
});

test('of many endpoints three are shown', () => {
  const addresses = ['1', '2', '3', '4', '::1'].map((ip) => ({ ip }));
  const ports = [{ name: 'web', port: 80 }];
  expect(endpointsText({ subsets: [{ addresses, ports }] }, 'web')).toBe('1:80,2:80,3:80 + 2 more...');
  expect(endpointsText({ subsets: [{ addresses: addresses.slice(4), ports }] }, 'web')).toBe('[::1]:80');
  expect(endpointsText({ subsets: [{ addresses, ports }] }, 'other')).toBe('');
  expect(endpointsText({}, 'web')).toBe('<none>');
  expect(endpointsText({ subsets: [{ addresses: addresses.slice(0, 1) }] }, 'web')).toBe('1');
});

test('amounts of containers and pods', () => {
  const container = { resources: { limits: { cpu: '1500m', memory: '64Mi', 'hugepages-2Mi': '4Mi' } } };
  expect(containerAmount(container, 'limits.cpu')).toBe('2');
  expect(containerAmount(container, 'limits.cpu', '1m')).toBe('1500');
  expect(containerAmount(container, 'limits.memory', '1Mi')).toBe('64');
  expect(containerAmount(container, 'limits.hugepages-2Mi', '1Mi')).toBe('4');
  expect(containerAmount(container, 'requests.cpu')).toBe('0');
  expect(containerAmount(container, 'limits.pods')).toBe('');
  const { requests, limits } = podAmounts({
    spec: {
      containers: [{ resources: { requests: { cpu: '100m' }, limits: { cpu: '200m' } } }, { resources: { requests: { cpu: '200m' } } }],
      initContainers: [{ resources: { requests: { cpu: '1', memory: '1Gi' } } }],
      overhead: { cpu: '10m', memory: '1Mi' },
    },
  });
  expect([...requests].map(([name, amount]) => `${name}=${amount}`)).toEqual(['cpu=1010m', 'memory=1025Mi']);
  expect([...limits].map(([name, amount]) => `${name}=${amount}`)).toEqual(['cpu=210m']);
});
