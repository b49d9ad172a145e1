import { expect, test } from 'vitest';
import type { Column, Row } from '../../api/collection.ts';
import { toneOf } from '../../parts/tones.ts';
import {
  compareNames,
  cordonPatch,
  countsText,
  failurePatch,
  isFailing,
  type NodeObject,
  podsByNode,
  simulationPrefix,
  statesOf,
  timeFactorOf,
} from './nodes.ts';

function nodeOf({ annotations = {}, ready = 'True', unschedulable = false }): NodeObject {
  return {
    metadata: { name: 'node-0', uid: '1', resourceVersion: '1', creationTimestamp: '', annotations },
    spec: { unschedulable },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  };
}
const simulated = { 'simulation.example.dev/node': 'true' };
const failing = { ...simulated, 'simulation.example.dev/down': 'true' };
const words = (node: NodeObject) => statesOf(node).map(({ text }) => text);

test('a node is simulated where its annotation says so, under any domain', () => {
  expect(simulationPrefix(nodeOf({ annotations: simulated }))).toBe('simulation.example.dev/');
  expect(simulationPrefix(nodeOf({ annotations: { 'simulation.example.dev/node': 'false' } }))).toBeUndefined();
  expect(isFailing(nodeOf({ annotations: { 'simulation.example.dev/down': 'true' } }))).toBe(false);
});

test('states tell what a node was told from what the server has noticed', () => {
  expect(words(nodeOf({ annotations: simulated }))).toEqual(['Ready']);
  expect(words(nodeOf({ annotations: failing }))).toEqual(['Ready', 'Failing']);
  expect(words(nodeOf({ annotations: failing, ready: 'Unknown' }))).toEqual(['Not ready']);
  expect(words(nodeOf({ annotations: simulated, ready: 'Unknown' }))).toEqual(['Not ready', 'Coming back']);
  expect(words(nodeOf({ ready: 'False', unschedulable: true }))).toEqual(['Not ready', 'Cordoned']);
});

test('buttons send merge patches that take back what they set', () => {
  const node = nodeOf({ annotations: simulated });
  expect(failurePatch(node, true)).toEqual({ metadata: { annotations: { 'simulation.example.dev/down': 'true' } } });
  expect(failurePatch(node, false)).toEqual({ metadata: { annotations: { 'simulation.example.dev/down': null } } });
  expect([cordonPatch(true), cordonPatch(false)]).toEqual([{ spec: { unschedulable: true } }, { spec: { unschedulable: null } }]);
});

test('pods are counted by node and state from the columns that the server names', () => {
  const columns = ['Name', 'Status', 'Node'].map((name) => ({ name }) as Column);
  const row = (...cells: string[]) => ({ cells }) as unknown as Row;
  const rows = [
    row('a', 'Running', 'node-0'),
    row('b', 'CrashLoopBackOff', 'node-0'),
    row('c', 'Pending', '<none>'),
    row('d', 'Completed', 'node-1'),
    row('e', 'SomethingElse', 'node-1'),
  ];
  const counts = podsByNode(rows, columns, toneOf);
  expect([...counts].map(([node, one]) => `${node}: ${countsText(one)}`)).toEqual([
    'node-0: 1 running, 1 failed',
    'node-1: 1 waiting, 1 completed',
  ]);
  expect(podsByNode(rows, [], toneOf).size).toBe(0);
});

test('the speed of time is read from the metrics', () => {
  expect(timeFactorOf('# TYPE apiserver_time_factor gauge\napiserver_time_factor 60\nother 1\n')).toBe(60);
  expect(timeFactorOf('other 1\n')).toBeUndefined();
});

test('nodes are in the order of their numbers', () => {
  const names = ['node-10', 'node-2', 'a'].map((name) => ({ metadata: { name } }) as NodeObject);
  expect(names.sort(compareNames).map(({ metadata }) => metadata.name)).toEqual(['a', 'node-2', 'node-10']);
});
