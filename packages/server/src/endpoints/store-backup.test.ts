import { EventEmitter } from 'node:events';
import { FakeClock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { inChunks } from '@plat-dev/storage/backup/backup.testing';
import { verifyBackup } from '@plat-dev/storage/backup/read';
import { Compacted, type Engine } from '@plat-dev/storage/engine';
import { put } from '@plat-dev/storage/engine.suite.tools';
import { openMemoryEngine } from '@plat-dev/storage/engines/memory';
import { expect, test } from 'vitest';
import type { Context } from '../context.ts';
import { backupEndpoint, LONGEST_MS, MOST_BACKUPS, STALL_MS } from './store-backup.ts';
import { ask } from './testing.ts';

/** A client that takes nothing until it is told to. */
class Slow extends EventEmitter {
  destroyed = false;
  ended = false;
  readonly chunks: Buffer[] = [];
  writeHead(): void {}
  write(bytes: Buffer): boolean {
    this.chunks.push(bytes);
    return false;
  }
  end(): void {
    this.ended = true;
  }
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

async function setup(megabytes = 4) {
  const clock = new FakeClock();
  const engine = openMemoryEngine({ clock });
  for (let index = 0; index < megabytes; index++) await engine.commit([put(`k${index}`, Buffer.alloc(1_000_000, index))]);
  const said: string[] = [];
  const log = { info: (message: string, fields?: object) => void said.push(`${message} ${jsonText(fields)}`) };
  const endpoint = backupEndpoint({ engine, facts: () => ({ productVersion: '1.2.3', identity: 'plat' }), clock, log });
  const begin = () => {
    const res = new Slow();
    const ctx = { res, method: 'GET', headers: [], http2: false, responseBytes: 0, auditId: 'x' } as unknown as Context;
    return { res, ctx, done: Promise.resolve(endpoint(ctx)) };
  };
  return { clock, engine, endpoint, begin, said };
}
const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
};
const mayCompact = async (engine: Engine): Promise<boolean> => {
  const before = engine.revision;
  await engine.commit([put('x', '')]);
  await engine.compact(engine.revision);
  return engine.get('x', before).then(
    () => false,
    (error: unknown) => error instanceof Compacted,
  );
};

test('a backup is whole, of one revision, and says what it is of', async () => {
  const { endpoint, engine } = await setup();
  const answer = await ask(endpoint, '/store/backup');
  expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/octet-stream']);
  const { header, trailer } = await verifyBackup(inChunks(answer.body));
  expect(header).toMatchObject({ identity: 'plat', engine: 'memory', revision: engine.revision });
  expect(trailer.entries).toBe(4);
  await expect(ask(endpoint, '/store/backup', {}, 'POST')).rejects.toMatchObject({ code: 405 });
});

test('a slow client is given one block at a time, of the revision at which it began, whatever is compacted', async () => {
  const { engine, begin } = await setup();
  const { res, done } = begin();
  await turns();
  expect(res.chunks).toHaveLength(1);
  for (let index = 0; index < 4; index++) await engine.commit([put(`k${index}`, 'newer')]);
  await engine.compact(engine.revision);
  for (; !res.ended; await turns()) res.emit('drain');
  await done;
  const values: number[] = [];
  const bytes = Buffer.concat(res.chunks);
  expect((await verifyBackup(inChunks(bytes))).trailer.entries).toBe(4);
  for (const chunk of res.chunks) if (chunk.length > 1_000_000) values.push(chunk.length);
  expect(values).toHaveLength(4);
  expect(await mayCompact(engine)).toBe(true);
});

test('a client that takes nothing is let go, and what was held with it', async () => {
  const { clock, engine, begin, said } = await setup();
  const { res, done } = begin();
  await turns();
  expect(await mayCompact(engine)).toBe(false);
  await clock.advance(STALL_MS - 1);
  expect(res.destroyed).toBe(false);
  await clock.advance(1);
  await done;
  expect(res.destroyed).toBe(true);
  expect(await mayCompact(engine)).toBe(true);
  expect(said.join()).toContain('the client takes nothing');
});

test('a client that takes a little now and then is let go in the end', async () => {
  const { clock, engine, begin, said } = await setup(100);
  const { res, done } = begin();
  for (let waited = 0; waited < LONGEST_MS && !res.destroyed; waited += STALL_MS - 1) {
    res.emit('drain');
    await turns();
    await clock.advance(STALL_MS - 1);
  }
  await done;
  expect([res.destroyed, res.ended]).toEqual([true, false]);
  expect(said.join()).toContain('it took too long');
  expect(await mayCompact(engine)).toBe(true);
});

test('no more than a few backups run at once', async () => {
  const { begin, endpoint } = await setup();
  const running = Array.from({ length: MOST_BACKUPS }, begin);
  await turns();
  await expect(ask(endpoint, '/store/backup')).rejects.toMatchObject({ code: 429 });
  for (const { res } of running) res.destroy();
  await Promise.all(running.map(({ done }) => done));
  expect((await ask(endpoint, '/store/backup')).status).toBe(200);
});

test('a store that fails in the middle leaves a file without an end', async () => {
  const { engine, begin, said } = await setup();
  const { res, done } = begin();
  await turns();
  await engine.close();
  for (; !res.destroyed; await turns()) res.emit('drain');
  await done;
  expect(res.ended).toBe(false);
  expect(said.join()).toContain('the store is closed');
  await expect(verifyBackup(inChunks(Buffer.concat(res.chunks)))).rejects.toThrow(/cut short/);
});
