import { expect, test } from 'vitest';
import { imageTag, pullPolicyOf } from './pod-image.ts';
import { qosClass } from './pod-resources.ts';

type Amounts = Record<string, string>;
const pod = (...containers: { limits?: Amounts; requests?: Amounts }[]) => ({
  containers: containers.map((resources, i) => ({ name: `c${i}`, image: 'i', resources })),
});
const both = { cpu: '1', memory: '1Gi' };

test.each<[string, Parameters<typeof pod>, string]>([
  ['nothing', [{}], 'BestEffort'],
  ['only storage', [{ requests: { 'ephemeral-storage': '1Gi' } }], 'BestEffort'],
  ['nothing in numbers', [{ requests: { cpu: '0' }, limits: { cpu: '0', memory: '0' } }], 'BestEffort'],
  ['exactly the bounds', [{ limits: both, requests: both }], 'Guaranteed'],
  ['the bounds in other words', [{ limits: both, requests: { cpu: '1000m', memory: '1024Mi' } }], 'Guaranteed'],
  ['less than the bounds', [{ limits: both, requests: { ...both, cpu: '500m' } }], 'Burstable'],
  ['one bound', [{ limits: { cpu: '1' }, requests: { cpu: '1' } }], 'Burstable'],
  ['one container without bounds', [{ limits: both, requests: both }, {}], 'Burstable'],
])('quality of service: %s', (_name, containers, expected) => {
  expect(qosClass(pod(...containers))).toBe(expected);
});

test('init containers count', () => {
  const spec = { ...pod({ limits: both, requests: both }), initContainers: pod({}).containers };
  expect(qosClass(spec)).toBe('Burstable');
});

test.each<[string, string | undefined]>([
  ['app', 'latest'],
  ['app:latest', 'latest'],
  ['app:v1', 'v1'],
  ['reg:5000/app', 'latest'],
  ['reg:5000/app:2', '2'],
  ['localhost/app', 'latest'],
  ['reg.example/team/app@sha256:'.concat('a'.repeat(64)), ''],
  ['app@sha256:'.concat('a'.repeat(63)), undefined],
  ['App', undefined],
  ['reg.example/App:latest', undefined],
  [' app', undefined],
  ['', undefined],
  ['a'.repeat(64), undefined],
])('the tag of %j', (image, tag) => {
  expect(imageTag(image)).toBe(tag);
});

test('only what can change under its name is always pulled', () => {
  expect(['app', 'app:latest', 'app:v1', 'App', ''].map(pullPolicyOf)).toEqual([
    'Always',
    'Always',
    'IfNotPresent',
    'IfNotPresent',
    'IfNotPresent',
  ]);
});
