import type { Loose } from '@plat-dev/controllers/testing';

import { atOnce } from '@plat-dev/lib/slices';
import { formatTime } from '@plat-dev/meta/time';
import { expect, test } from 'vitest';
import { ContainerFiles } from './container-files.ts';
import { noSources } from './container-view.ts';
import { type DiskWorld, disksOf, environmentNow } from './disks.ts';
import { succeeds } from './lifecycle/probes.ts';
import { run } from './shell/run.ts';

const START = Date.UTC(2024, 0, 1);
const worldAt = (seconds = 0, disks: DiskWorld['disks'] = new ContainerFiles(10)): DiskWorld => ({
  disks,
  sources: noSources,
  now: () => START + seconds * 1000,
  random: () => 0,
});
const podOf = (uid: string, container: Loose, volumes: readonly Loose[] = [], more: Loose = {}): Loose => ({
  metadata: { name: 'web-0', namespace: 'ns', uid },
  spec: { nodeName: 'node-0', containers: [{ name: 'main', image: 'app', ...container }], volumes, ...more },
  status: { containerStatuses: [{ name: 'main', state: { running: { startedAt: formatTime(START) } } }] },
});
/** Runs a script in the first container; answers its exit code. */
function exec(pod: Loose, script: string, world: DiskWorld): number {
  const running = run(['sh', '-c', script], atOnce(environmentNow(pod, pod.spec.containers[0], world)));
  for (;;) {
    const { done, value } = running.next(undefined);
    if (done === true) return value;
  }
}

const mount = { volumeMounts: [{ name: 'data', mountPath: '/data/' }] };
const claim = [{ name: 'data', persistentVolumeClaim: { claimName: 'data-web-0' } }];

test('a file on a claim is there for the next pod, one of the container is not', () => {
  const world = worldAt();
  const first = podOf('u1', mount, claim);
  expect(exec(first, 'echo $(hostname) | dd of=/data/name conv=fsync; touch /tmp/a', world)).toBe(0);
  expect(exec(first, 'test -f /tmp/a && [ "$(cat /data/name)" = web-0 ]', world)).toBe(0);
  const second = podOf('u2', mount, claim);
  expect(exec(second, '[ "$(cat /data/name)" = "$(hostname)" ]', world)).toBe(0);
  expect(exec(second, 'test -f /tmp/a', world)).toBe(1);
});

test('an emptyDir goes with its pod, and a part of a volume is mounted where it says', () => {
  const world = worldAt();
  const volumes = [{ name: 'data', emptyDir: {} }];
  const first = podOf('u1', mount, volumes);
  exec(first, 'touch /data/sub/x', world);
  const part = podOf('u1', { volumeMounts: [{ name: 'data', mountPath: '/part', subPath: 'sub' }] }, volumes);
  expect(exec(part, 'test -f /part/x', world)).toBe(0);
  for (const id of disksOf(first)) world.disks.delete(id);
  expect(exec(first, 'test -f /data/sub/x', world)).toBe(1);
});

test('the command of the container has changed its files as far as it has come', () => {
  const pod = podOf('u1', { command: ['sh', '-c', 'touch /tmp/healthy; sleep 30; rm /tmp/healthy; sleep 600'] });
  expect(exec(pod, 'cat /tmp/healthy', worldAt(10))).toBe(0);
  expect(exec(pod, 'cat /tmp/healthy', worldAt(40))).toBe(1);
  // What a client removes stays removed.
  const disks: DiskWorld['disks'] = new ContainerFiles(10);
  exec(pod, 'rm /tmp/healthy', worldAt(5, disks));
  expect(exec(pod, 'cat /tmp/healthy', worldAt(10, disks))).toBe(1);
});

test('init containers leave files in shared volumes', () => {
  const init = { name: 'init', image: 'app', command: ['sh', '-c', 'sleep 5; echo hi > /data/greeting'], ...mount };
  const pod = podOf('u1', mount, [{ name: 'data', emptyDir: {} }], { initContainers: [init] });
  expect(exec(pod, '[ "$(cat /data/greeting)" = hi ]', worldAt())).toBe(0);
});

test('probes: commands are run, a known web server has its files, the rest succeeds', () => {
  const world = worldAt();
  const check = (pod: Loose, probe: Loose): boolean =>
    atOnce(succeeds(probe, pod.spec.containers[0], () => atOnce(environmentNow(pod, pod.spec.containers[0], world))));
  const pod = podOf('u1', mount, claim);
  const exists = { exec: { command: ['test', '-f', '/data/go'] } };
  expect(check(pod, exists)).toBe(false);
  exec(pod, 'dd if=/dev/zero of=/data/go bs=1 count=1 conv=fsync', world);
  expect(check(pod, exists)).toBe(true);
  expect(check(pod, { exec: { command: ['pg_isready'] } })).toBe(true);
  expect(check(pod, { exec: { command: ['sleep', '5'] } })).toBe(false);
  const page = { httpGet: { path: '/index.html', port: 80 } };
  expect(check(pod, page)).toBe(true);
  const server = podOf('u2', { image: 'registry.example/library/httpd:2.4' });
  expect(check(server, page)).toBe(true);
  expect(exec(server, 'mv -v /usr/local/apache2/htdocs/index.html /tmp/ || true', world)).toBe(0);
  expect(check(server, page)).toBe(false);
  exec(server, 'mv -v /tmp/index.html /usr/local/apache2/htdocs/ || true', world);
  expect(check(server, page)).toBe(true);
  expect(check(server, { tcpSocket: { port: 80 } })).toBe(true);
});
