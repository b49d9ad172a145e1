import type { Loose } from '@plat-dev/controllers/testing';
import { atOnce } from '@plat-dev/lib/slices';
import { expect, test } from 'vitest';
import { ContainerFiles } from './container-files.ts';
import { noSources } from './container-view.ts';
import { listening } from './listening.ts';

/** The ports of these on which something in a pod listens. */
function heard(containers: Loose[], running = containers.length): number[] {
  const named = containers.map((container, i) => ({ name: `c${i}`, image: 'app', ...container }));
  const containerStatuses = named.slice(0, running).map(({ name }) => ({ name, state: { running: {} } }));
  const pod = { metadata: { name: 'p' }, spec: { containers: named }, status: { containerStatuses } } as Loose;
  const world = { disks: new ContainerFiles(1), sources: noSources, now: () => 0, random: () => 0 };
  return [53, 80, 81, 8080].filter(atOnce(listening(pod, world)));
}
const ports = (...containerPorts: number[]): Loose => ({ ports: containerPorts.map((containerPort) => ({ containerPort })) });

test('ports that containers and their probes name are all there are', () => {
  expect(heard([ports(80), { readinessProbe: { httpGet: { port: 8080 } } }])).toEqual([80, 8080]);
  expect(heard([ports(80), {}])).toEqual([80]);
  expect(heard([{ ports: [{ containerPort: 53, protocol: 'UDP' }, { containerPort: 81 }] }])).toEqual([81]);
  expect(heard([{ livenessProbe: { tcpSocket: { port: 'http' } }, ...ports(80) }])).toEqual([80]);
});

test('without such ports a web server has its own, a simulated command has none, and nothing is known of others', () => {
  expect(heard([{ image: 'nginx:1.25' }])).toEqual([80]);
  expect(heard([{ command: ['sleep', '3600'] }])).toEqual([]);
  expect(heard([{ image: 'nginx', command: ['sh', '-c', 'while true; do sleep 1; done'] }])).toEqual([]);
  expect(heard([{}])).toEqual([53, 80, 81, 8080]);
  expect(heard([{ command: ['sh', '-c', 'exec /server'] }])).toEqual([53, 80, 81, 8080]);
});

test('a container that does not run does not listen', () => {
  expect([heard([ports(80)], 0), heard([ports(80), ports(81)], 1)]).toEqual([[], [80]]);
});
