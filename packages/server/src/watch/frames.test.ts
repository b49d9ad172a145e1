/** Bookmarks of Tables: one row of an object that has only a version, for every kind, and the columns where they come first. */

import { identities } from '@plat-dev/meta/identity';
import type { Item } from '@plat-dev/storage/item';
import { expect, test } from 'vitest';
import { testServices } from '../endpoints/testing.ts';
import type { Resource } from '../registry/catalog.ts';
import type { Representation } from '../request/negotiate.ts';
import { Frames } from './frames.ts';

const table = { media: 'json', transform: 'Table', transformVersion: 'meta/v1' } as Representation;
/** The object of an event. */
const shown = (frame: { readonly bytes: Buffer }) => JSON.parse(frame.bytes.toString()).object;

test.each(['plat', 'kubernetes'])('every kind as %s', async (name) => {
  const { services, catalog } = await testServices(identities[name]);
  const watched = [...catalog.all()].flatMap(({ resources }) => resources.filter(({ kind }) => kind.verbs.includes('watch')));
  expect(watched.length).toBeGreaterThan(50);
  for (const resource of watched) {
    const { kind, columnDefinitions, rows, metadata } = shown(new Frames(services, resource, table, 'Metadata').bookmark(7));
    const where = `${resource.apiVersion} ${resource.kind.plural}`;
    expect([kind, metadata, rows.length], where).toEqual(['Table', { resourceVersion: '7' }, 1]);
    expect(rows[0].cells, where).toHaveLength(columnDefinitions.length);
    expect(rows[0].cells[columnDefinitions.findIndex((column: { name: string }) => column.name === 'Name')], where).toBe('');
    expect(rows[0].object, where).toEqual({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta/v1',
      metadata: { resourceVersion: '7', creationTimestamp: null },
    });
  }
});

test('the columns come with the first event alone, be it a bookmark', async () => {
  const { services, catalog } = await testServices();
  const resource = catalog.find('', 'v1', 'configmaps') as Resource;
  const item = {
    key: 'n/a',
    revision: 8,
    bytes: Buffer.from('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","resourceVersion":"8"}}'),
  } as unknown as Item;
  const first = new Frames(services, resource, table, 'None');
  expect(shown(first.bookmark(7)).columnDefinitions).toHaveLength(3);
  expect(shown(first.event('ADDED', item, undefined))).toMatchObject({ columnDefinitions: null, rows: [{ cells: ['a', 0, '<unknown>'] }] });
  const later = new Frames(services, resource, table, 'None');
  expect(shown(later.event('ADDED', item, undefined)).columnDefinitions).toHaveLength(3);
  expect(shown(later.bookmark(9))).toMatchObject({ columnDefinitions: null, rows: [{ cells: ['', 0, '<unknown>'], object: null }] });
});

test('a large object is converted to other forms in slices, with the bytes that a small one has', async () => {
  const { services, catalog } = await testServices();
  const { SLICED_FROM } = await import('@plat-dev/lib/slices');
  const resource = catalog.find('autoscaling', 'v1', 'horizontalpodautoscalers') as Resource;
  const sized = (length: number): Item => {
    const annotations = JSON.stringify({ note: 'x'.repeat(length) });
    const text = `{"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2","metadata":{"name":"a","namespace":"n","annotations":${annotations}},"spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},"maxReplicas":3}}`;
    return { key: 'n/a', revision: 8, bytes: Buffer.from(text) } as unknown as Item;
  };
  const [small, large] = [sized(1), sized(SLICED_FROM)];
  const forms = {
    'another version': { media: 'json', transformVersion: '' },
    binary: { media: 'protobuf', transformVersion: '' },
    Table: table,
    'binary metadata': { media: 'protobuf', transform: 'PartialObjectMetadata', transformVersion: 'meta/v1' },
  } as unknown as Record<string, Representation>;
  for (const [form, representation] of Object.entries(forms)) {
    const frames = new Frames(services, resource, representation, 'Object');
    frames.bookmark(7);
    const whole = frames.event('ADDED', small, undefined);
    expect(whole.ready, form).toBeUndefined();
    const sliced = frames.event('ADDED', large, undefined);
    expect(sliced.ready, form).toBeDefined();
    await sliced.ready;
    expect(sliced.fault, form).toBeUndefined();
    const withoutLengths = (bytes: Buffer): string => bytes.toString('latin1').replace(/x+/, 'x');
    if (representation.media === 'json') expect(withoutLengths(sliced.bytes)).toBe(withoutLengths(whole.bytes));
    else expect(sliced.bytes.readUInt32BE(0) + 4, form).toBe(sliced.bytes.length);
  }
});

test.each([
  ['1.27', 'kubernetes', ['k8s.io/initial-events-end']],
  ['1.32', 'kubernetes', ['k8s.io/initial-events-end', 'kubernetes.io/initial-events-list-blueprint']],
  ['1.34', 'kubernetes', ['k8s.io/initial-events-end']],
  ['1.36', 'plat', ['plat.dev/initial-events-end', 'k8s.io/initial-events-end']],
] as const)('the end of the beginning is marked in %s as %s with %o', async (release, name, marks) => {
  const { services, catalog } = await testServices(identities[name], () => false, release);
  const resource = catalog.find('', 'v1', 'configmaps') as Resource;
  for (const transform of [undefined, 'PartialObjectMetadata'] as const) {
    const form = { media: 'json', transform, transformVersion: 'meta/v1' } as Representation;
    const { metadata } = shown(new Frames(services, resource, form, 'None').initialEnd(7));
    expect(metadata.resourceVersion).toBe('7');
    expect(Object.keys(metadata.annotations)).toEqual(transform === undefined ? marks : marks.filter((mark) => mark.endsWith('-end')));
    const list = metadata.annotations['kubernetes.io/initial-events-list-blueprint'];
    if (list !== undefined)
      expect(JSON.parse(Buffer.from(list, 'base64').toString())).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1', items: [] });
  }
});
