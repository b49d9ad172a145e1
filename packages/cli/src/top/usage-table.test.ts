import { expect, test } from 'vitest';
import { nodeTable, podTable } from './usage-table.ts';

const node = (name: string, cpu: string, memory: string) => ({ metadata: { name }, usage: { cpu, memory } });

test('nodes with their share of what they have, those without metrics last', () => {
  const available = new Map([
    ['a', { cpu: '4', memory: '8Gi' }],
    ['b', { cpu: '1', memory: '1Gi' }],
    ['c', { cpu: '1', memory: '1Gi' }],
  ]);
  const metrics = [node('b', '290m', '512Mi'), node('a', '1500000001n', '1Gi')];
  const style = { sortBy: '' as const, headers: true };
  expect(nodeTable(metrics, available, style)).toBe(
    'NAME   CPU(cores)   CPU%        MEMORY(bytes)   MEMORY%     \n' +
      'a      1501m        37%         1024Mi          12%         \n' +
      'b      290m         28%         512Mi           50%         \n' +
      'c      <unknown>    <unknown>   <unknown>       <unknown>   \n',
  );
  const order = (sortBy: 'cpu' | 'memory') => nodeTable(metrics, new Map(), { sortBy, headers: false }).match(/^\w/gm);
  expect([order('cpu'), order('memory')]).toEqual([
    ['a', 'b'],
    ['a', 'b'],
  ]);
});

const pod = (namespace: string, name: string, ...containers: [string, string, string][]) => ({
  metadata: { name, namespace },
  containers: containers.map(([one, cpu, memory]) => ({ name: one, usage: { cpu, memory } })),
});

test('pods with the sum of their containers, or each container', () => {
  const metrics = [pod('n', 'b', ['x', '100m', '1Mi'], ['y', '50m', '3Mi']), pod('m', 'c', ['z', '200m', '1Ki']), pod('n', 'a')];
  const style = { sortBy: '' as const, headers: true, namespaces: false, containers: false };
  expect(podTable(metrics, style)).toBe(
    'NAME   CPU(cores)   MEMORY(bytes)   \n' +
      'a      0m           0Mi             \n' +
      'b      150m         4Mi             \n' +
      'c      200m         0Mi             \n',
  );
  expect(podTable(metrics, { ...style, namespaces: true, containers: true, headers: false, sortBy: 'cpu' })).toBe(
    'm     c     z     200m   0Mi   \n' + 'n     b     x     100m   1Mi   \n' + 'n     b     y     50m    3Mi   \n',
  );
  expect(podTable(metrics, { ...style, namespaces: true }).split('\n')[1]).toMatch(/^m\s+c\s/);
});
