import fc from '@plat-dev/lib/testing/fast-check.testing';
import { expect, test } from 'vitest';
import { put } from '../engine.suite.tools.ts';
import type { Entry } from '../engine.ts';
import { openMemoryEngine } from '../engines/memory.ts';
import { backupOf, entriesOfBackup, inChunks, testHeader } from './backup.testing.ts';
import {
  BackupError,
  type BackupVersion,
  BLOCK,
  checksum,
  encodeBlock,
  encodeHistory,
  FORMAT,
  frameOf,
  HEADER,
  HISTORY,
  MAGIC,
  preamble,
  TRAILER,
} from './format.ts';
import { readBackup, verifyBackup } from './read.ts';
import { backupChunks } from './write.ts';

const entry = fc.record({
  key: fc.stringMatching(/^[ -~]{1,40}$/),
  value: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  ttl: fc.option(fc.integer({ min: 1, max: 1_000_000 }), { nil: undefined }),
});

async function smallBackup(): Promise<Buffer> {
  const engine = openMemoryEngine();
  await engine.commit([put('a', 'one'), put('b', Buffer.alloc(40, 7))]);
  await engine.commit([put('c', 'three', undefined, 60)]);
  return backupOf(engine);
}

test('what a store holds is read back, in chunks of any size', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(entry, { selector: ({ key }) => key, maxLength: 30 }),
      fc.integer({ min: 1, max: 700 }),
      async (list, chunk) => {
        const engine = openMemoryEngine();
        for (const { key, value, ttl } of list) await engine.commit([put(key, value, undefined, ttl)]);
        const bytes = await backupOf(engine);
        const { entries } = await engine.range({ prefix: '', expiries: true });
        const found = await entriesOfBackup(bytes, chunk);
        expect(found).toEqual(entries.map((one) => ({ expires: 0, ...one })));
        const { header, trailer } = await verifyBackup(inChunks(bytes, chunk));
        expect(header).toEqual(testHeader(engine));
        expect(trailer).toMatchObject({ entries: list.length, unreadableCount: 0 });
        await engine.close();
      },
    ),
  );
});

test('a backup that is cut at any byte is refused', async () => {
  const bytes = await smallBackup();
  for (let length = 0; length < bytes.length; length++) {
    await expect(verifyBackup(inChunks(bytes.subarray(0, length))), `cut to ${length}`).rejects.toThrow(BackupError);
  }
});

test('a backup in which any bit differs is refused', async () => {
  const bytes = await smallBackup();
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
    await expect(verifyBackup(inChunks(changed)), `bit ${bit}`).rejects.toThrow(BackupError);
  }
});

test('a backup with something behind it, or with a block that is missing, twice or of another backup, is refused', async () => {
  const value = Buffer.alloc(700_000, 1);
  const [one, other] = [openMemoryEngine(), openMemoryEngine()];
  for (const engine of [one, other])
    for (const key of ['a', 'b', 'c']) await engine.commit([put(key, engine === one ? value : Buffer.alloc(700_000, 2))]);
  const frames = async (engine: typeof one): Promise<Buffer[]> => {
    const { entries } = await engine.range({ prefix: '' });
    const chunks: Buffer[] = [];
    for await (const chunk of backupChunks(testHeader(engine), pagesOf(entries), noHistory())) chunks.push(chunk);
    return chunks;
  };
  const [head, header, a, b, c, trailer] = (await frames(one)) as [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer];
  const foreign = (await frames(other))[3] as Buffer;
  const refused = (parts: Buffer[]) => expect(verifyBackup(inChunks(Buffer.concat(parts)))).rejects.toThrow(BackupError);
  await expect(verifyBackup(inChunks(Buffer.concat([head, header, a, b, c, trailer])))).resolves.toMatchObject({ trailer: { blocks: 3 } });
  await refused([head, header, a, b, c, trailer, Buffer.from('x')]);
  await refused([head, header, a, c, trailer]);
  await refused([head, header, a, b, b, c, trailer]);
  await refused([head, header, b, a, c, trailer]);
  await refused([head, header, a, foreign, c, trailer]);
  await refused([head, header, a, b, c]);
  await refused([head, a, b, c, trailer]);
  await refused([head, header, header, a, b, c, trailer]);
});

test('a later format is refused with what to do, and other files are no backups', async () => {
  const newer = await smallBackup();
  newer.writeUInt16BE(FORMAT + 1, MAGIC.length);
  await expect(verifyBackup(inChunks(newer))).rejects.toThrow(/format 3, and this release reads up to 2: use the release that made it/);
  await expect(verifyBackup(inChunks(Buffer.from('{"kind":"List","items":[]}')))).rejects.toThrow(
    /not a backup that `plat store backup` made/,
  );
  await expect(verifyBackup(inChunks(Buffer.alloc(0)))).rejects.toThrow(/cut short/);
});

test('a backup of the format before, which has no history, is read', async () => {
  const old = preamble();
  old.writeUInt16BE(1, MAGIC.length);
  const header = testHeader({ name: 'memory', revision: 5, compacted: 0 });
  const entries = encodeBlock([{ key: 'a', value: Buffer.from('1'), revision: 5, created: 5, expires: 0 }]);
  const before = Buffer.concat([old, frameOf(HEADER, Buffer.from(JSON.stringify(header))), frameOf(BLOCK, entries)]);
  const counts = { entries: 1, blocks: 1, encrypted: 0, unreadable: [], unreadableCount: 0 };
  const trailer = Buffer.from(JSON.stringify({ ...counts, sha256: checksum(before).toString('hex') }));
  expect(await entriesOfBackup(Buffer.concat([before, frameOf(TRAILER, trailer)]))).toHaveLength(1);
});

test('versions of history that make no sense, or stand before entries, are refused', async () => {
  const header = testHeader({ name: 'memory', revision: 5, compacted: 0 });
  const backup = (...frames: Buffer[]): Buffer => {
    const before = Buffer.concat([preamble(), frameOf(HEADER, Buffer.from(JSON.stringify(header))), ...frames]);
    const counts = { entries: frames.length - 1, versions: 1, blocks: frames.length, encrypted: 0, unreadable: [], unreadableCount: 0 };
    const trailer = { ...counts, sha256: checksum(before).toString('hex') };
    return Buffer.concat([before, frameOf(TRAILER, Buffer.from(JSON.stringify(trailer)))]);
  };
  const version: BackupVersion = {
    type: 'put',
    key: 'a',
    revision: 5,
    created: 5,
    time: 1,
    note: Buffer.from('n'),
    value: undefined,
    isEntry: true,
  };
  const history = (change: Partial<BackupVersion>): Buffer => frameOf(HISTORY, encodeHistory([{ ...version, ...change }]));
  const entry = frameOf(BLOCK, encodeBlock([{ key: 'a', value: Buffer.from('1'), revision: 5, created: 5, expires: 0 }]));
  await expect(verifyBackup(inChunks(backup(history({}))))).resolves.toMatchObject({ trailer: { versions: 1 } });
  await expect(verifyBackup(inChunks(backup(entry, history({}))))).resolves.toMatchObject({ trailer: { entries: 1, versions: 1 } });
  await expect(verifyBackup(inChunks(backup(history({}), entry)))).rejects.toThrow(BackupError);
  await expect(verifyBackup(inChunks(backup(history({ revision: 6 }))))).rejects.toThrow(/makes no sense/);
  await expect(verifyBackup(inChunks(backup(history({ created: 6 }))))).rejects.toThrow(/makes no sense/);
  const lying = encodeHistory([version]);
  lying.writeUInt32BE(1_000, 31);
  await expect(verifyBackup(inChunks(backup(frameOf(HISTORY, lying))))).rejects.toThrow(/does not fit into its block/);
});

test('lengths that are too large and revisions that make no sense are refused, though the checksums are right', async () => {
  const header = { ...testHeader({ name: 'memory', revision: 5, compacted: 0 }) };
  const whole = (...frames: Buffer[]): Buffer => {
    const before = Buffer.concat([preamble(), frameOf(HEADER, Buffer.from(JSON.stringify(header))), ...frames]);
    const trailer = {
      entries: frames.length,
      blocks: frames.length,
      encrypted: 0,
      unreadable: [],
      unreadableCount: 0,
      sha256: checksum(before).toString('hex'),
    };
    return Buffer.concat([before, frameOf(TRAILER, Buffer.from(JSON.stringify(trailer)))]);
  };
  const block = (revision: number, created = revision) =>
    frameOf(BLOCK, encodeBlock([{ key: 'a', value: Buffer.from('1'), revision, created, expires: 0 }]));
  await expect(verifyBackup(inChunks(whole(block(5))))).resolves.toBeDefined();
  await expect(verifyBackup(inChunks(whole(block(6))))).rejects.toThrow(/makes no sense/);
  await expect(verifyBackup(inChunks(whole(block(4, 5))))).rejects.toThrow(/makes no sense/);
  const huge = block(5);
  huge.writeUInt32BE(0xffffffff, 1);
  await expect(verifyBackup(inChunks(whole(huge)))).rejects.toThrow(/claims to have 4294967295 bytes/);
  const lying = encodeBlock([{ key: 'a', value: Buffer.from('1'), revision: 5, created: 5, expires: 0 }]);
  lying.writeUInt32BE(1_000, 27);
  await expect(verifyBackup(inChunks(whole(frameOf(BLOCK, lying))))).rejects.toThrow(/does not fit into its block/);
});

test('the writer takes a page when the reader has taken the block before it', async () => {
  let pages = 0;
  async function* endless(): AsyncGenerator<Entry[]> {
    for (; ; pages++) yield [{ key: `k${String(pages).padStart(9, '0')}`, value: Buffer.alloc(600_000), revision: 1, created: 1 }];
  }
  const chunks = backupChunks(testHeader({ name: 'memory', revision: 1, compacted: 0 }), endless(), noHistory());
  for (let block = 0; block < 10; block++) await chunks.next();
  expect(pages).toBeLessThan(12);
  await chunks.return(undefined);
});

test('values that cannot be read are left out and named', async () => {
  const entries: Entry[] = [
    { key: 'a', value: Buffer.from('1'), revision: 1, created: 1 },
    { key: 'b', value: Buffer.alloc(0), revision: 2, created: 1, unreadable: { reason: 'its checksum is wrong' } },
  ];
  const chunks: Buffer[] = [];
  for await (const chunk of backupChunks(testHeader({ name: 'memory', revision: 2, compacted: 0 }), pagesOf(entries), noHistory()))
    chunks.push(chunk);
  const parts = [];
  for await (const part of readBackup(inChunks(Buffer.concat(chunks)))) parts.push(part);
  expect(parts.at(-1)).toMatchObject({ trailer: { entries: 1, unreadable: ['b'], unreadableCount: 1 } });
});

async function* noHistory(): AsyncGenerator<never> {}

async function* pagesOf(...pages: readonly Entry[][]): AsyncGenerator<Entry[]> {
  yield* pages;
}
