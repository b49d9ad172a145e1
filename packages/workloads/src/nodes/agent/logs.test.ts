import { FakeClock } from '@plat-dev/lib/clock';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import type { WorkloadPod } from '../../shared/pods.ts';
import { linesOfRun } from '../container-log.ts';
import { Files } from '../shell/files.ts';
import type { Environment } from '../shell/run.ts';
import { linesAt, writeLog } from './logs.ts';

const pod = { metadata: { name: 'a', namespace: 'b' }, spec: { containers: [] } } as unknown as WorkloadPod;
const environment = (): Environment => ({
  variables: new Map(),
  files: new Files(new Map()),
  hostname: 'a',
  now: () => 0,
  random: () => 1,
});
const annotated = { identity: kubernetes, pod, ofNamespace: undefined };
const linesOf = (script: string) =>
  [...linesOfRun(annotated, { name: 'main', image: 'x', command: ['sh', '-c', script] } as never, 1000, environment)].filter(
    (line) => line !== undefined,
  );

test('the lines of a command, at the times of its sleeps', () => {
  expect(linesOf('echo a; sleep 5; echo b; sleep 1; printf c')).toEqual([
    { at: 1000, text: 'a\n' },
    { at: 6000, text: 'b\n' },
    { at: 7000, text: 'c' },
  ]);
});

test('a command that never ends has an end here, whether it writes lines or not', () => {
  expect(linesOf('while true; do sleep 30; done')).toEqual([]);
  expect(linesOf('while true; do printf x; sleep 1; done').map(({ text }) => text.length)[0]).toBeLessThanOrEqual(64 * 1024);
  expect(linesOf('while true; do echo tick; sleep 1; done')).toHaveLength(10_000);
  const long = linesOf(`a=${'x'.repeat(30_000)}; while true; do echo $a $a $a; sleep 0; done`);
  expect(long.reduce((size, { text }) => size + text.length, 0)).toBeLessThan(5e6);
  expect(linesOf('while true; do :; done').map(({ text }) => text)).toEqual([expect.stringContaining('simulated container main')]);
});

test('a log of many short lines is written in few pieces, and no further than asked', async () => {
  const pieces: number[] = [];
  const sink = { signal: new AbortController().signal, write: async (bytes: Buffer) => void pieces.push(bytes.length) };
  const all = { follow: false, previous: false, timestamps: false, tailLines: undefined, limitBytes: undefined, since: undefined };
  const clock = new FakeClock();
  const end = { clock, hasEnded: async () => true, endedAt: undefined };
  const size = (): number => pieces.splice(0).reduce((sum, length) => sum + length, 0);
  await writeLog(linesAt('ab\n'.repeat(100_000), 0), all, sink, end);
  expect(pieces.length).toBeLessThan(20);
  expect(size()).toBe(300_000);
  await writeLog(linesAt('ab\n'.repeat(100_000), 0), { ...all, limitBytes: 40_000 }, sink, end);
  expect(size()).toBe(40_000);
  await writeLog(linesAt('ab\n'.repeat(100_000), 0), { ...all, tailLines: 7 }, sink, end);
  expect(size()).toBe(21);
});

test('the log of an annotation has so many lines and no more', () => {
  const annotations = { 'simulation.kubernetes.io/logs': 'a\n'.repeat(20_000) };
  const told = { ...annotated, pod: { ...pod, metadata: { ...pod.metadata, annotations } } };
  expect([...linesOfRun(told, { name: 'main', image: 'x' } as never, 1000, environment)]).toHaveLength(10_000);
});
