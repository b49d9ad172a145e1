/** Long lists turn by turn: each turn of the event loop makes and sends one piece, however many clients there are. */

import { EventEmitter } from 'node:events';
import { ConfigMap } from '@plat-dev/kinds/core/schema/config';
import type { KindEnv } from '@plat-dev/kinds/kind';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import type { Item } from '@plat-dev/storage/item';
import { expect, test } from 'vitest';
import type { Context } from '../context.ts';
import type { Resource } from '../registry/catalog.ts';
import { RecentObjects } from '../registry/recent.ts';
import { Versions } from '../registry/versions.ts';
import type { Representation } from '../request/negotiate.ts';
import { SHARED_LIMIT } from './list-piece-cache.ts';
import { sendLong } from './long-list.ts';

const newResource = (): Resource => {
  const served = {
    apiVersion: 'v1',
    kind: { kind: 'ConfigMap', plural: 'configmaps', listKind: 'ConfigMapList', namespaced: true },
    hub: { later: false, schema: ConfigMap, apiVersion: 'v1' },
    schema: ConfigMap,
    definition: {},
    isHub: true,
    custom: false,
  } as unknown as ServedKind;
  return { ...served, versions: new Versions(served, new RecentObjects()) } as Resource;
};
const env = { now: () => 0 } as unknown as KindEnv;

const ITEMS = 300;
const SIZE = 4000;
const LARGE = 1_000_000;
/** Items that count how often they are read. */
function newItems(count = ITEMS, size = SIZE): { items: Item[]; reads: () => number } {
  let reads = 0;
  const items = Array.from({ length: count }, (_, i) => {
    const name = `c${String(i).padStart(4, '0')}`;
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, namespace: 'n' }, data: { text: 'x'.repeat(size) } };
    const bytes = Buffer.from(JSON.stringify(object));
    bytes.toString = (...args) => {
      reads++;
      return Buffer.prototype.toString.apply(bytes, args);
    };
    return { key: `n/${name}`, revision: i + 1, bytes } as unknown as Item;
  });
  return { items, reads: () => reads };
}

interface Write {
  readonly turn: number;
  readonly bytes: Buffer;
}
/** A client that takes everything at once, and notes the turn of the loop in which it came. */
function newClient(turn: () => number): { ctx: Context; writes: Write[] } {
  const writes: Write[] = [];
  const take = (bytes: Buffer): boolean => {
    if (bytes.length > 0) writes.push({ turn: turn(), bytes });
    return true;
  };
  const head = { headersSent: false, writeHead: () => Object.assign(res, { headersSent: true }) };
  const res: EventEmitter & typeof head = Object.assign(new EventEmitter(), { destroyed: false, ...head, write: take, end: take });
  const ctx = { res, req: { headers: {} }, headers: [], responseBytes: 0, http2: false } as unknown as Context;
  // As a request has it: what was begun to be answered is not worked on for an answer any more.
  Object.defineProperty(ctx, 'ended', { get: () => res.headersSent });
  return { ctx, writes };
}

function countTurns(): { turn: () => number; stop: () => void } {
  let turn = 0;
  let going = true;
  const next = (): void => {
    turn++;
    if (going) setImmediate(next);
  };
  setImmediate(next);
  return {
    turn: () => turn,
    stop: () => {
      going = false;
    },
  };
}

const forms: Record<string, { r: Partial<Representation>; pretty?: boolean }> = {
  YAML: { r: { media: 'yaml' } },
  pretty: { r: { media: 'json' }, pretty: true },
  binary: { r: { media: 'protobuf' } },
};
const send = (ctx: Context, resource: Resource, items: readonly Item[], { r, pretty = false }: (typeof forms)[string]): Promise<void> => {
  const representation = { type: 'x/y', transform: undefined, transformVersion: '', pretty: false, ...r } as Representation;
  return sendLong(ctx, env, resource, items, { resourceVersion: '5' }, representation, pretty, 'Metadata');
};

test.each(Object.keys(forms))('%s: pieces of many lists go out one a turn, and each is made once', async (name) => {
  const { items, reads } = newItems();
  const resource = newResource();
  const turns = countTurns();
  const clients = Array.from({ length: 20 }, () => newClient(turns.turn));
  await Promise.all(clients.map(({ ctx }) => send(ctx, resource, items, forms[name] as (typeof forms)[string])));
  turns.stop();
  const bodies = clients.map(({ writes }) => Buffer.concat(writes.map(({ bytes }) => bytes)));
  for (const body of bodies) expect(body.equals(bodies[0] as Buffer)).toBe(true);
  expect((bodies[0] as Buffer).length).toBeGreaterThan(ITEMS * SIZE);
  const large = clients.flatMap(({ writes }) => writes.filter(({ bytes }) => bytes.length > 1000).map(({ turn }) => turn));
  expect(large.length).toBeGreaterThanOrEqual(20 * 25);
  // Also the first pieces of lists that were asked for in one turn are made in turns of their own.
  expect(new Set(large).size).toBe(large.length);
  expect(reads()).toBeLessThanOrEqual(2 * ITEMS);
});

test('a list whose client goes away is given up', async () => {
  const { items, reads } = newItems();
  const turns = countTurns();
  const { ctx, writes } = newClient(turns.turn);
  const sent = send(ctx, newResource(), items, forms.YAML as (typeof forms)[string]);
  while (writes.length < 3) await new Promise(setImmediate);
  (ctx.res as unknown as EventEmitter).emit('close');
  await sent;
  turns.stop();
  expect(writes.length).toBeLessThan(6);
  expect(reads()).toBeLessThan(60);
});

test.each(Object.keys(forms))('%s: large objects go out in parts, also when they must be converted again', async (name) => {
  const count = Math.ceil(SHARED_LIMIT / LARGE) + 1;
  const { items } = newItems(count, LARGE);
  const resource = newResource();
  const turns = countTurns();
  const clients = Array.from({ length: 3 }, () => newClient(turns.turn));
  await Promise.all(clients.map(({ ctx }) => send(ctx, resource, items, forms[name] as (typeof forms)[string])));
  turns.stop();
  const bodies = clients.map(({ writes }) => Buffer.concat(writes.map(({ bytes }) => bytes)));
  for (const body of bodies) expect(body.equals(bodies[0] as Buffer)).toBe(true);
  expect((bodies[0] as Buffer).length).toBeGreaterThan(count * LARGE);
  const large = clients.flatMap(({ writes }) => writes.filter(({ bytes }) => bytes.length > 1000));
  for (const { bytes } of large) expect(bytes.length).toBeLessThanOrEqual(256 * 1024);
  expect(new Set(large.map(({ turn }) => turn)).size).toBe(large.length);
});

test.each(Object.keys(forms))(
  '%s: large objects go out whole over HTTP/2, whose responses do not say whether they are destroyed',
  async (name) => {
    const { items } = newItems(3, LARGE);
    const turns = countTurns();
    const { ctx, writes } = newClient(turns.turn);
    Reflect.deleteProperty(ctx.res, 'destroyed');
    await send(ctx, newResource(), items, forms[name] as (typeof forms)[string]);
    turns.stop();
    expect(Buffer.concat(writes.map(({ bytes }) => bytes)).length).toBeGreaterThan(3 * LARGE);
  },
);
