/** The parts of `plat set` that need no server. */

import { jsonText } from '@plat-dev/lib/json-text';
import type { JsonObject } from '@plat-dev/schema/types';
import { describe, expect, test } from 'vitest';
import { run } from '../index.ts';
import { testIO } from '../testing.ts';
import { changedVariables, readChanges, splitArguments } from './env-changes.ts';
import { resourceValue, sourceText } from './env-source.ts';
import { patchBetween } from './patch-between.ts';
import { nameMatches } from './pod-spec.ts';

describe('patches', () => {
  const before: JsonObject = {
    spec: {
      containers: [
        { name: 'a', image: 'x' },
        { name: 'b', image: 'y', env: [{ name: 'A', value: '1' }, { name: 'B' }] },
      ],
    },
  };

  test('a strategic patch merges containers and variables by name', () => {
    const after: JsonObject = {
      spec: {
        containers: [
          { name: 'a', image: 'x' },
          { name: 'b', image: 'z', env: [{ name: 'A', valueFrom: { fieldRef: {} } }, { name: 'C' }] },
        ],
      },
    };
    expect(patchBetween(before, after, 'strategic')).toEqual({
      spec: {
        containers: [
          {
            name: 'b',
            image: 'z',
            env: [{ name: 'A', value: null, valueFrom: { fieldRef: {} } }, { name: 'C' }, { name: 'B', $patch: 'delete' }],
            '$setElementOrder/env': [{ name: 'A' }, { name: 'C' }],
          },
        ],
        '$setElementOrder/containers': [{ name: 'a' }, { name: 'b' }],
      },
    });
  });
  test('a merge patch replaces lists', () => {
    const after: JsonObject = { spec: { containers: [{ name: 'a', image: 'z' }] } };
    expect(patchBetween(before, after, 'merge')).toEqual(after);
  });
  test('items of the same name are replaced as a whole', () => {
    const env = [
      { name: 'A', value: '1' },
      { name: 'A', value: '2' },
    ];
    expect(patchBetween({ env: [] }, { env }, 'strategic')).toEqual({ env: [...env, { $patch: 'replace' }] });
  });
  test('nothing changed, nothing to send', () => {
    expect(patchBetween(before, structuredClone(before), 'strategic')).toEqual({});
    expect(patchBetween({ a: 1 }, {}, 'strategic')).toEqual({ a: null });
  });
});

test.each([
  ['web', '*', true],
  ['web', 'web', true],
  ['web', 'we', false],
  ['web', 'w*', true],
  ['web', '*b', true],
  ['web', 'w*b', true],
  ['wb', 'wb*wb', false],
  ['a-b-c', 'a*b*c', true],
  ['a-c', 'a*b*c', false],
])('%s matches %s: %s', (name, pattern, matches) => {
  expect(nameMatches(name, pattern)).toBe(matches);
});

describe('variables', () => {
  const none = async (): Promise<string> => '';

  test('objects come before changes', () => {
    expect(splitArguments(['deploy/web', 'A=1', 'B-'])).toEqual({ args: ['deploy/web'], changes: ['A=1', 'B-'] });
    expect(() => splitArguments(['A=1', 'deploy/web'])).toThrow('objects come before them');
  });
  test('values, removals, and lines of the standard input', async () => {
    expect(await readChanges(['A=1=2', 'B=', 'C-', '-'], async () => 'D=4 # four\nnone\n')).toEqual({
      set: [{ name: 'A', value: '1=2' }, { name: 'B' }, { name: 'D', value: '4 ' }],
      remove: ['C'],
    });
    await expect(readChanges(['A=1', 'A-'], none)).rejects.toThrow('cannot be set and removed at once');
    await expect(readChanges(['1A=1'], none)).rejects.toThrow('cannot be a variable');
    await expect(readChanges(['A'], none)).rejects.toThrow('neither KEY=value nor KEY-');
  });
  test('variables that exist keep their places', () => {
    const before = [
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
      { name: 'C', value: '3' },
    ];
    const set = [
      { name: 'D', value: '4' },
      { name: 'C', value: '5' },
    ];
    expect(changedVariables(before, { set, remove: ['A'] })).toEqual([
      { name: 'B', value: '2' },
      { name: 'C', value: '5' },
      { name: 'D', value: '4' },
    ]);
  });
  test('where values come from', () => {
    expect(sourceText({ configMapKeyRef: { name: 'c', key: 'k' } })).toBe('configmap c, key k');
    expect(sourceText({ secretKeyRef: { name: 's', key: 'k' } })).toBe('secret s, key k');
    expect(sourceText({ fieldRef: { fieldPath: 'metadata.name' } })).toBe('field path metadata.name');
    expect(sourceText({ resourceFieldRef: { containerName: 'c', resource: 'limits.cpu' } })).toBe('resource field c/limits.cpu');
    expect(sourceText({})).toBe('invalid valueFrom');
  });
  test('resources are counted in units of the divisor, rounded up', () => {
    const container = { resources: { limits: { cpu: '1500m', memory: '64Mi' } } };
    expect(resourceValue(container, { resource: 'limits.cpu' })).toBe('2');
    expect(resourceValue(container, { resource: 'limits.cpu', divisor: '1m' })).toBe('1500');
    expect(resourceValue(container, { resource: 'limits.memory', divisor: '1Mi' })).toBe('64');
    expect(resourceValue(container, { resource: 'requests.cpu' })).toBe('0');
    expect(() => resourceValue(container, { resource: 'limits.x' })).toThrow('unsupported container resource');
  });
});

describe('--local', () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'a', image: 'x' }], initContainers: [{ name: 'i', image: 'x' }] },
  };
  async function local(args: readonly string[], object: object = pod) {
    const io = testIO({ program: 'kubectl', stdin: async () => jsonText(object) });
    const code = await run(['set', ...args, '--local', '-f', '-'], io);
    return { code, stdout: io.stdout, stderr: io.stderr };
  }
  const json = async (args: readonly string[], object?: object) => JSON.parse((await local([...args, '-o', 'json'], object)).stdout);

  test('the objects of files are changed and printed', async () => {
    expect(await local(['image', 'a=y'])).toMatchObject({ code: 0, stdout: 'pod/p image updated\n' });
    expect((await json(['image', '*=y'])).spec).toEqual({
      containers: [{ name: 'a', image: 'y' }],
      initContainers: [{ name: 'i', image: 'y' }],
    });
    expect((await json(['env', 'A=1', '-c', 'a'])).spec.containers).toEqual([{ name: 'a', image: 'x', env: [{ name: 'A', value: '1' }] }]);
    expect((await json(['resources', '--limits=cpu=500m', '-c', 'a'])).spec.containers[0].resources).toEqual({ limits: { cpu: '500m' } });
    expect((await json(['serviceaccount', 'robot'])).spec.serviceAccountName).toBe('robot');
    expect((await json(['sa', 'robot'])).spec.serviceAccountName).toBe('robot');
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { selector: { a: 'b' } } };
    expect((await json(['selector', 'c=d'], service)).spec.selector).toEqual({ c: 'd' });
    const binding = { apiVersion: 'rbac.authorization.example.com/v1', kind: 'RoleBinding', metadata: { name: 'b' } };
    expect((await json(['subject', '--user=ann', '--serviceaccount=:robot', '-n', 'team'], binding)).subjects).toEqual([
      { kind: 'User', apiGroup: 'rbac.authorization.example.com', name: 'ann' },
      { kind: 'ServiceAccount', namespace: 'team', name: 'robot' },
    ]);
  });

  test('what has the values already is not reported', async () => {
    expect(await local(['image', 'a=x'])).toMatchObject({ code: 0, stdout: '' });
  });

  test.each([
    [['image', 'z=y'], 'unable to find container named "z"'],
    [['resources', '--limits=cpu=1', '-c', 'z'], 'unable to find container named z'],
    [['selector', 'a=b'], 'only supported for Services'],
    [['subject', '--user=a'], 'only supported for RoleBinding/ClusterRoleBinding'],
    [['env', 'A=1', '--dry-run=server'], '--local and --dry-run=server exclude each other'],
    [['env', '--list', '--resolve'], '--local excludes --from and --resolve'],
    [['env', 'deploy/web', 'A=1'], '--local takes objects from files alone'],
    [['image'], 'which image?'],
    [['image', '*=a', 'b=c'], '* stands for all containers'],
    [['image', 'a='], 'is not of the form container=image'],
    [['resources'], 'which resources?'],
    [['selector', 'a in (b)'], 'selects by key=value alone'],
    [['subject'], 'which subject?'],
    [['subject', '--serviceaccount=a'], 'is not of the form namespace:name'],
    [['env'], 'which variables?'],
    [['env', '--keys=a'], '--keys needs --from'],
    [['env', '--list', '-o', 'yaml'], '--list and --output exclude each other'],
  ])('set %j is refused', async (args, message) => {
    const { code, stderr } = await local(args);
    expect(stderr).toContain(message);
    expect(code).not.toBe(0);
  });
});
