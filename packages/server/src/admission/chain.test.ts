import { forbidden } from '@plat-dev/meta/errors';
import { jsonPatch } from '@plat-dev/patch';
import type { JsonValue } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { admissionChain } from './chain.ts';
import { changesBetween, Explanation, noChanges } from './explanation.ts';
import { podOf, World } from './testing.ts';
import type { AdmissionPlugin, AdmissionRequest } from './types.ts';

const world = new World();
const request = (): AdmissionRequest => world.request('pods', podOf());

/** A plug-in that writes its name down whenever it is asked. */
function scribe(name: string, told: string[], more: Partial<AdmissionPlugin> = {}): AdmissionPlugin {
  return {
    name,
    handles: () => true,
    admit: () => void told.push(`${name} admits`),
    validate: () => void told.push(`${name} validates`),
    ...more,
  };
}

test('plug-ins run in the order of the array, also those that take their time', async () => {
  const told: string[] = [];
  const slow = scribe('b', told, {
    admit: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      told.push('b admits');
    },
  });
  const chain = admissionChain([scribe('a', told), slow, scribe('c', told)]);
  await chain.admit(request());
  await chain.validate(request());
  expect(told).toEqual(['a admits', 'b admits', 'c admits', 'a validates', 'b validates', 'c validates']);
});

test('what answers at once is not awaited', () => {
  const chain = admissionChain([scribe('a', []), scribe('b', [])]);
  expect(chain.admit(request())).toBeUndefined();
});

test('the first refusal ends the request', async () => {
  const told: string[] = [];
  const no = () => {
    throw forbidden({ group: '', resource: 'pods' }, 'p', 'no');
  };
  const chain = admissionChain([scribe('a', told), scribe('b', told, { admit: no }), scribe('c', told)]);
  expect(() => chain.admit(request())).toThrow('pods "p" is forbidden: no');
  expect(told).toEqual(['a admits']);
});

test('a plug-in is asked only about operations and kinds that concern it', async () => {
  const told: string[] = [];
  const chain = admissionChain([
    scribe('only deletes', told, { handles: (operation) => operation === 'DELETE' }),
    scribe('only secrets', told, { concerns: ({ kind }) => kind.plural === 'secrets' }),
    scribe('pods', told, { concerns: ({ kind }) => kind.plural === 'pods' }),
  ]);
  await chain.admit(request());
  expect(told).toEqual(['pods admits']);
});

test('a webhook that changed the object makes all run once more, and only once', async () => {
  const told: string[] = [];
  const webhook = scribe('webhook', told, {
    admit: (given) => {
      told.push(`webhook ${given.reinvocation ?? 'first'}`);
      if (given.reinvocation === undefined) given.reinvocation = 'wanted';
    },
  });
  await admissionChain([scribe('a', told), webhook]).admit(request());
  expect(told).toEqual(['a admits', 'webhook first', 'a admits', 'webhook running']);
});

test('times are observed, refusals as such', async () => {
  const seen: string[] = [];
  let now = 0;
  const chain = admissionChain(
    [
      scribe('quick', []),
      scribe('late', [], {
        admit: async () => {
          now += 250;
          throw new Error('no');
        },
      }),
    ],
    {
      now: () => now,
      plugin: (name) => (seconds, rejected) => seen.push(`${name} ${seconds} ${rejected}`),
      phase: (phase) => (seconds, rejected) => seen.push(`${phase} ${seconds} ${rejected}`),
    },
  );
  await expect(chain.admit(request())).rejects.toThrow('no');
  expect(seen).toEqual(['quick 0 false', 'late 0.25 true', 'admit 0.25 true']);
});

test('an explanation tells steps, times, changes and the refusal', async () => {
  let now = 0;
  const explanation = new Explanation();
  const told = { ...request(), explanation };
  const chain = admissionChain(
    [
      scribe('changes', [], {
        admit: (given) => {
          now += 2;
          (given.object as { metadata: object }).metadata = { name: 'p', labels: { a: 'b/c' } };
        },
      }),
      scribe('refuses', [], {
        admit: () => {
          throw new Error('nein — no');
        },
      }),
    ],
    { now: () => now, plugin: () => () => {}, phase: () => () => {} },
  );
  await expect(chain.admit(told)).rejects.toThrow('nein');
  expect(JSON.parse(explanation.header())).toEqual([
    { step: 'changes', phase: 'admit', ms: 2, changed: ['-/metadata/namespace', '+/metadata/labels'] },
    { step: 'refuses', phase: 'admit', ms: 0, refused: 'nein — no' },
  ]);
  expect(explanation.header()).toMatch(/^[\x20-\x7e]+$/);
  expect(explanation.causes()[1]).toEqual({ reason: 'AdmissionStep', field: 'refuses', message: 'admit: 0 ms, refused: nein — no' });
});

test('a story that is too long for a header loses what did nothing first', () => {
  const explanation = new Explanation({ withValues: true });
  const volumes = { op: 'add', path: '/spec/volumes', value: 'x' } as const;
  for (let i = 0; i < 150; i++)
    explanation.add({
      step: `plug-in ${i}`,
      phase: 'admit',
      round: 0,
      millis: 1,
      changes: i === 7 ? { operations: [volumes], more: 0 } : noChanges,
    });
  const header = explanation.header();
  expect(header.length).toBeLessThanOrEqual(6144);
  expect(JSON.parse(header)).toEqual([{ step: 'plug-in 7', phase: 'admit', ms: 1, changed: ['+/spec/volumes'] }, { left_out: 149 }]);
});

test('with values the changes are a JSON patch that makes the new object of the old one, as long as it fits', () => {
  const before = { spec: { list: [1, 2, 3, 4], gone: 1, 'a/b': 1 }, same: {} };
  const after = { spec: { list: [1, 9], 'a/b': { c: 2 } }, same: {}, added: [1] };
  const { operations, more } = changesBetween(before, after);
  expect(more).toBe(0);
  expect(jsonPatch(operations as unknown as JsonValue)(before)).toEqual(after);
  const explanation = new Explanation({ withValues: true });
  explanation.add({ step: 'a', phase: 'admit', round: 0, millis: 1, changes: { operations, more } });
  expect(JSON.parse(explanation.header())).toEqual([{ step: 'a', phase: 'admit', ms: 1, patch: operations }]);
  const long = { op: 'add', path: '/x', value: 'x'.repeat(7000) } as const;
  explanation.add({ step: 'b', phase: 'admit', round: 0, millis: 1, changes: { operations: [long], more: 3 } });
  expect(JSON.parse(explanation.header())[1]).toEqual({ step: 'b', phase: 'admit', ms: 1, changed: ['+/x', '(3 more)'] });
});

test('an explanation tells of a second round only where there was one', async () => {
  const changing: AdmissionPlugin = {
    name: 'changing',
    handles: () => true,
    admit: (request) => {
      if (request.reinvocation === undefined) request.reinvocation = 'wanted';
    },
    validate: () => {},
  };
  const told = { ...request(), explanation: new Explanation() };
  const chain = admissionChain([changing]);
  await chain.admit(told);
  await chain.validate(told);
  expect(told.explanation.steps.map(({ phase, round }) => [phase, round])).toEqual([
    ['admit', 0],
    ['admit', 1],
    ['validate', 0],
  ]);
});
