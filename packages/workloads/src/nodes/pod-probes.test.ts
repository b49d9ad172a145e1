import type { Loose } from '@plat-dev/controllers/testing';
import { atOnce } from '@plat-dev/lib/slices';
import { formatTime } from '@plat-dev/meta/time';
import { expect, test } from 'vitest';
import { ContainerFiles } from './container-files.ts';
import { verdictOf } from './pod-probes.ts';

const START = Date.UTC(2024, 0, 1);
const HTTPD = 'registry.example/library/httpd:2.4';

/** How a probe of the first container comes out, so many seconds after its start. */
function verdict(container: Loose, probe: Loose, seconds = 0, spec: Loose = {}): string {
  const pod: Loose = {
    metadata: { name: 'web-0', namespace: 'ns', uid: 'u' },
    spec: { ...spec, containers: [{ name: 'main', ...container }, ...(spec.containers ?? [])] },
    status: { containerStatuses: [{ name: 'main', state: { running: { startedAt: formatTime(START) } } }] },
  };
  const { ok, sure, changesAt } = atOnce(verdictOf(pod, pod.spec.containers[0], probe, new ContainerFiles(10), START + seconds * 1000));
  const at = changesAt && atOnce(changesAt());
  return `${ok ? 'succeeds' : sure ? 'fails' : 'may fail'}${at === undefined ? '' : `, until ${(at - START) / 1000} s`}`;
}
const exec = (...command: string[]): Loose => ({ exec: { command } });
const page = (path: string): Loose => ({ httpGet: { path, port: 80 } });
const mount = (name: string, mountPath: string): Loose => ({ volumeMounts: [{ name, mountPath }] });

test('a failure is sure where the files are known', () => {
  expect(verdict({ image: HTTPD }, exec('test', '-f', '/data/go'))).toBe('fails');
  expect(verdict({ image: HTTPD }, page('/index.html'))).toBe('succeeds');
  expect(verdict({ image: HTTPD }, page('/other'))).toBe('fails');
  expect(verdict({ image: 'app', command: ['sleep', 'infinity'] }, exec('cat', '/tmp/ok'))).toBe('fails');
  expect(verdict({ image: 'app' }, exec('cat', '/tmp/ok'))).toBe('may fail');
  expect(verdict({ image: 'app', command: ['/server'] }, exec('cat', '/tmp/ok'))).toBe('may fail');
  expect(verdict({ image: 'app' }, exec('sh', '-c', 'exit 1'))).toBe('fails');
  expect(verdict({ image: 'app' }, exec('sh', '-c', '[ "$DB_SERVICE_HOST" != "" ]'))).toBe('may fail');
});

test('the command of the container changes its files, and tells when', () => {
  const container = { image: 'app', command: ['sh', '-c', 'sleep 9; touch /tmp/ok; sleep 20; rm /tmp/ok; sleep infinity'] };
  const probe = exec('cat', '/tmp/ok');
  expect(verdict(container, probe)).toBe('fails, until 9 s');
  expect(verdict(container, probe, 9)).toBe('succeeds, until 29 s');
  expect(verdict(container, probe, 29)).toBe('fails');
  expect(verdict({ image: 'app', command: ['sh', '-c', 'while true; do echo x; sleep 1; done'] }, exec('true'))).toBe('succeeds');
  expect(verdict({ image: 'app' }, exec('sh', '-c', '[ $(date +%s) -gt 0 ]'), 5)).toBe('succeeds, until 5 s');
});

test('what others may have written or configured is not known', () => {
  const shared = { volumes: [{ name: 'data', emptyDir: {} }] };
  const web = { image: HTTPD, ...mount('data', '/data') };
  const probe = exec('test', '-f', '/data/go');
  const other = (command?: string[]): Loose => ({ name: 'other', image: 'app', ...mount('data', '/d'), ...(command && { command }) });
  expect(verdict(web, probe, 0, shared)).toBe('fails');
  expect(verdict(web, probe, 0, { ...shared, containers: [other()] })).toBe('may fail');
  expect(verdict(web, probe, 0, { ...shared, initContainers: [other()] })).toBe('may fail');
  expect(verdict(web, probe, 0, { ...shared, initContainers: [other(['true'])] })).toBe('fails');
  expect(verdict({ ...web, lifecycle: { postStart: exec('setup') } }, probe, 0, shared)).toBe('may fail');
  const config = { volumes: [{ name: 'config', configMap: { name: 'c' } }] };
  expect(verdict({ image: HTTPD, ...mount('config', '/usr/local/apache2/conf') }, page('/healthz'), 0, config)).toBe('may fail');
  const script = { image: 'app', command: ['sh', '-c', 'if test -f /config/a; then touch /tmp/ok; fi; sleep infinity'] };
  expect(verdict({ ...script, ...mount('config', '/config') }, exec('cat', '/tmp/ok'), 0, config)).toBe('may fail');
  expect(verdict({ ...script, ...mount('config', '/config') }, exec('cat', '/config/a'), 0, config)).toBe('succeeds');
  const token = { volumes: [{ name: 'token', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }] };
  expect(verdict({ image: HTTPD, ...mount('token', '/var/run/secrets') }, page('/healthz'), 0, token)).toBe('fails');
});

test('a probe whose command works for long, and that of its container, are found out in steps', () => {
  const loop = ['sh', '-c', 'for i in $(seq 1 3000); do a=$i; done; sleep 60'];
  const pod: Loose = {
    metadata: { name: 'web-0', namespace: 'ns', uid: 'u' },
    spec: { containers: [{ name: 'main', image: 'app', command: loop }] },
    status: { containerStatuses: [{ name: 'main', state: { running: { startedAt: formatTime(START) } } }] },
  };
  const steps = (probe: Loose): number => [...verdictOf(pod, pod.spec.containers[0], probe, new ContainerFiles(10), START)].length;
  const ofContainer = steps(exec('true'));
  expect(ofContainer).toBeGreaterThan(20);
  expect(steps(exec(...loop))).toBeGreaterThan(ofContainer + 20);
});
