/** A large list is sent in slices the first time, then joined and kept: clients get the same bytes each time. */

import { EventEmitter } from 'node:events';
import { TURN_BYTES } from '@plat-dev/lib/next-turn';
import type { Item } from '@plat-dev/storage/item';
import { describe, expect, test } from 'vitest';
import type { Context } from '../context.ts';
import type { Step } from '../pipeline.ts';
import type { Resource } from '../registry/catalog.ts';
import type { ListResult } from '../registry/list.ts';
import type { Selection } from '../registry/select.ts';
import type { Representation } from '../request/negotiate.ts';
import type { Services } from '../services.ts';
import { sendList } from './list-body.ts';
import { KEPT_AT_ONCE, KeptLists } from './list-cache.ts';

const json = { media: 'json', type: 'application/json', transform: undefined } as unknown as Representation;
const everything = { everything: true, prefix: '' } as unknown as Selection;

interface Received {
  readonly length: number;
  readonly body: Buffer;
}
/** Sends to a client that takes everything at once. */
async function receive(http2: boolean, send: Step): Promise<Received> {
  const chunks: Buffer[] = [];
  let length = -1;
  let finish: () => void = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const res = Object.assign(new EventEmitter(), {
    destroyed: false,
    writeHead: (_status: number, headers: readonly string[] | Record<string, string>) => {
      const value = Array.isArray(headers)
        ? headers[headers.indexOf('Content-Length') + 1]
        : (headers as Record<string, string>)['content-length'];
      length = Number(value);
    },
    // A slice that was taken may be filled again.
    write: (bytes: Buffer, taken?: () => void) => {
      chunks.push(Buffer.from(bytes));
      taken?.();
      return true;
    },
    end: (bytes: Buffer) => {
      chunks.push(Buffer.from(bytes));
      finish();
    },
  });
  await send({ res, req: { headers: {} }, headers: [], responseBytes: 0, http2, method: 'GET' } as unknown as Context);
  await finished;
  return { length, body: Buffer.concat(chunks) };
}

function listOf(custom: boolean, sizes: readonly number[]): { resource: Resource; result: ListResult; expected: Buffer } {
  const apiVersion = custom ? 'example.com/v1' : 'v1';
  const type = { kind: custom ? 'Thing' : 'ConfigMap', apiVersion };
  const objects = sizes.map((size, i) => ({ metadata: { name: `o${i}` }, text: 'é'.repeat(size / 2) }));
  const items = objects.map((object) => ({ bytes: Buffer.from(JSON.stringify({ ...type, ...object })) }) as unknown as Item);
  const resource = {
    kind: { kind: type.kind, listKind: `${type.kind}List` },
    apiVersion,
    hub: { apiVersion, later: false },
    isHub: true,
    custom,
    collection: { prefix: 'x/', changes: 1, lastChange: 5 },
  } as unknown as Resource;
  const metadata = { resourceVersion: '5', ...(custom && { continue: '' }) };
  // Items of built-in kinds do not repeat their kind.
  const list = { kind: `${type.kind}List`, apiVersion, metadata, items: custom ? objects.map((o) => ({ ...type, ...o })) : objects };
  return {
    resource,
    result: { items, revision: 5, continue: '', remaining: undefined, whole: true },
    expected: Buffer.from(`${JSON.stringify(list)}\n`),
  };
}

const KIB = 1024;
const shapes: Record<string, readonly number[]> = {
  'many small objects': Array(400).fill(2 * KIB),
  'objects that fill slices to the last byte': Array.from({ length: 24 }, (_, i) => 16 * KIB - 64 + 2 * i),
  'objects larger than a slice among small ones': [100, 200 * KIB, 100, 300 * KIB, 64 * KIB, 66 * KIB, 100],
  'more than one write': Array(38).fill(60 * KIB),
};

describe.each([
  ['built-in', false],
  ['custom', true],
])('a list of a %s kind', (_name, custom) => {
  test.each(Object.keys(shapes))('%s', async (shape) => {
    const { resource, result, expected } = listOf(custom, shapes[shape] as readonly number[]);
    expect(expected.length).toBeGreaterThan(KEPT_AT_ONCE);
    for (const http2 of [false, true]) {
      const keptLists = new KeptLists();
      const services = { keptLists, registry: { env: { feature: () => true } } } as unknown as Services;
      const kept: number[] = [];
      for (let time = 0; time < 3; time++) {
        const { length, body } = await receive(http2, (ctx) =>
          sendList(services, ctx, resource, result, everything, json, false, 'Metadata'),
        );
        kept.push(keptLists.size);
        expect(length).toBe(expected.length);
        expect(body.equals(expected)).toBe(true);
      }
      expect(kept).toEqual([0, 1, 1]);
    }
  });
});

test('a list at the bound is kept at once', async () => {
  const text = (more: number) => listOf(false, [...Array(128).fill(1900), more * 2]);
  const spare = Math.floor((KEPT_AT_ONCE - text(0).expected.length) / 2);
  const keptAt = async (more: number): Promise<number> => {
    const { resource, result } = text(more);
    const keptLists = new KeptLists();
    const services = { keptLists, registry: { env: { feature: () => true } } } as unknown as Services;
    await receive(false, (ctx) => sendList(services, ctx, resource, result, everything, json, false, 'Metadata'));
    return keptLists.size;
  };
  expect([await keptAt(spare), await keptAt(spare + 1)]).toEqual([1, 0]);
});

test('of large lists that are requested together, those beyond the limit of a turn are sent in later turns', async () => {
  const { resource, result, expected } = listOf(false, Array(20).fill(60 * KIB));
  const keptLists = new KeptLists();
  const services = { keptLists, registry: { env: { feature: () => true } } } as unknown as Services;
  const get = () => receive(false, (ctx) => sendList(services, ctx, resource, result, everything, json, false, 'Metadata'));
  for (let time = 0; time < 2; time++) await get();
  await new Promise((resolve) => setImmediate(resolve));
  let done = 0;
  const lists = Array.from({ length: 12 }, () =>
    get().then(({ body }) => {
      done++;
      expect(body.equals(expected)).toBe(true);
    }),
  );
  for (let i = 0; i < 10; i++) await Promise.resolve();
  expect(done).toBe(Math.floor(TURN_BYTES / expected.length));
  await Promise.all(lists);
  expect(done).toBe(12);
});
