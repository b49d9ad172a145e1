/** A long page of history in every form: in slices, and the same bytes as one made at once. */
import { ObjectHistory } from '@plat-dev/kinds/explain/schema/v1alpha1';
import { jsonText } from '@plat-dev/lib/json-text';
import { RequestEnded, SLICE_MILLIS, Slices } from '@plat-dev/lib/slices';
import { encodeObject } from '@plat-dev/schema/protobuf/envelope';
import { stringifyYaml } from '@plat-dev/schema/yaml';
import { expect, test } from 'vitest';
import type { Representation } from '../request/negotiate.ts';
import { historyBody } from './body.ts';

const versions = Array.from({ length: 2000 }, (_, i) => ({
  version: {
    name: 'a',
    resourceVersion: String(5000 - i),
    type: 'updated',
    patch: [{ op: 'replace', path: '/data/n', value: `${i}` }],
    object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { n: `${i}` } },
  },
  time: 0,
  change: `data.n = ${i}`,
}));
const head = { kind: 'ObjectHistory', apiVersion: 'explain.example.com/v1alpha1', metadata: { resourceVersion: '5000' } };
const whole = { ...head, items: versions.map(({ version }) => version) };

/** A clock on which every look takes as long as a slice may. */
const hurried = (): { monotonic(): number } => {
  let now = 0;
  return { monotonic: () => (now += SLICE_MILLIS) };
};
const bodyOf = (form: Partial<Representation>, slices: Slices): Promise<Buffer> => {
  const representation = { type: 'x/y', transform: undefined, transformVersion: 'meta/v1', pretty: false, ...form } as Representation;
  return historyBody({ ...head, versions }, 0, representation, false, slices);
};

// YAML is made of the JSON, with pauses while that is parsed and written.
test.each<[string, Partial<Representation>, number, Buffer]>([
  ['JSON', { media: 'json' }, versions.length, Buffer.from(`${jsonText(whole)}\n`)],
  ['YAML', { media: 'yaml' }, versions.length + 20, Buffer.from(stringifyYaml(whole))],
  ['binary', { media: 'protobuf' }, versions.length, encodeObject(ObjectHistory, whole)],
])('%s: a pause after each version at least, and the bytes of the whole', async (_, form, least, bytes) => {
  let pauses = 0;
  const slices = new Slices(() => {
    pauses++;
    return false;
  }, hurried());
  expect((await bodyOf(form, slices)).equals(bytes)).toBe(true);
  expect(pauses).toBeGreaterThanOrEqual(least);
});

test.each(['json', 'yaml', 'protobuf'] as const)('%s: the work ends with its request', async (media) => {
  let pauses = 0;
  await expect(bodyOf({ media }, new Slices(() => ++pauses > 5, hurried()))).rejects.toBeInstanceOf(RequestEnded);
  expect(pauses).toBe(6);
});
