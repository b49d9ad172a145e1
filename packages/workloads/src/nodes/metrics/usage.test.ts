import type { Loose } from '@plat-dev/controllers/testing';
import { plat } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import type { Annotated } from '../annotations.ts';
import { containerUsage, nodeUsage, sumOf, usageTexts, WINDOW_MS } from './usage.ts';

const pod = (annotations: Record<string, string> = {}, ofNamespace: Record<string, string> = {}): Annotated => ({
  identity: plat,
  pod: { metadata: { uid: 'u', annotations } },
  ofNamespace,
});
const container = (requests: Record<string, string> = {}): Loose => ({ name: 'main', resources: { requests } });
const note = (name: string): string => `simulation.plat.dev/usage.${name}`;

test('usage is a part of what is requested, the same within a window, and different in others', () => {
  const drawn = new Set<number>();
  for (let window = 0; window < 50; window++) {
    const at = window * WINDOW_MS;
    const usage = containerUsage(pod(), container({ cpu: '500m', memory: '1Gi' }), at);
    expect(usage).toEqual(containerUsage(pod(), container({ cpu: '500m', memory: '1Gi' }), at + WINDOW_MS - 1));
    expect(usage.cpu >= 200e6 && usage.cpu <= 450e6).toBe(true);
    expect(usage.memory >= 0.4 * 2 ** 30 && usage.memory <= 0.9 * 2 ** 30).toBe(true);
    drawn.add(usage.cpu);
  }
  expect(drawn.size).toBeGreaterThan(40);
});

test('containers that request nothing use little', () => {
  const { cpu, memory } = containerUsage(pod(), container(), 0);
  expect(cpu > 0 && cpu <= 10e6 && memory > 0 && memory <= 48 * 2 ** 20).toBe(true);
});

test('annotations say what is used, of all containers or of one; wrong ones are not used', () => {
  const of = (annotations: Record<string, string>, ofNamespace = {}) =>
    usageTexts(containerUsage(pod(annotations, ofNamespace), container({ cpu: '1' }), 0));
  expect(of({ [note('cpu')]: '250m', [note('memory')]: '64Mi' })).toEqual({ cpu: '250000000n', memory: '65536Ki' });
  expect(of({ [note('cpu')]: '250m', [note('cpu.main')]: '2' }).cpu).toBe('2000000000n');
  expect(of({ [note('cpu')]: 'much' })).toEqual(of({}));
  expect(of({ [note('cpu')]: '2' }, { [note('cpu')]: '1', [note('memory.main')]: '1Mi' })).toEqual({
    cpu: '2000000000n',
    memory: '1024Ki',
  });
});

test('nodes use what their pods use, and something themselves', () => {
  expect(
    sumOf([
      { cpu: 1, memory: 2 },
      { cpu: 3, memory: 4 },
    ]),
  ).toEqual({ cpu: 4, memory: 6 });
  expect(nodeUsage([{ cpu: 1, memory: 0 }]).cpu).toBeGreaterThan(1);
});
