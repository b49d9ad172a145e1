/**
 * Journals that were damaged. Whatever is done to one, the next start has every commit that was answered, or refuses and
 * names what is wrong; only the last frame may be taken for a write that did not finish.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FakeClock } from '@plat-dev/lib/clock';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { put, remove } from '../../../engine.suite.tools.ts';
import { openLmdbEngine } from '../../lmdb.ts';
import { headAt, scanFrames } from './frames.ts';
import { JOURNAL_BYTES, JOURNAL_FILES } from './journal.ts';
import { inspectJournal, inspectScans, JournalDamage } from './journal-read.ts';

let parent: string;
/** The bytes of a journal of four frames, and where each begins; the tables are empty. */
let journal: Buffer;
let starts: number[];
let end: number;
const COMMITS = 4;
/** Of each frame: as much as describes it, and more. */
const HEAD_BYTES = 64;

beforeAll(async () => {
  parent = temporaryDirectory('plat-journal-damage');
  const dataDir = join(parent, 'made');
  const engine = await openLmdbEngine({ dataDir, clock: new FakeClock() });
  mkdirSync(join(parent, 'running'), { mode: 0o700 });
  for (const name of ['store.mdb', ...JOURNAL_FILES]) copyFileSync(join(dataDir, name), join(parent, 'running', name));
  await engine.commit([put('x', '1'), put('y', 'a longer value')]);
  await engine.commit([put('x', '2')]);
  await engine.commit([remove('y')]);
  await engine.commit([put('z', 'v'.repeat(700))]);
  journal = readFileSync(join(dataDir, JOURNAL_FILES[0]));
  await engine.close();
  starts = [];
  for (let head = headAt('', journal, 0); head !== undefined; head = headAt('', journal, head.end)) {
    starts.push(head.offset);
    end = head.end;
  }
  expect(starts).toHaveLength(COMMITS);
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

/** What reading a journal comes to: how many revisions there are, or that it is refused. */
function outcome(bytes: Buffer, after = 0): number | 'refused' {
  const { frames, problems } = inspectScans([scanFrames('store.journal-0', bytes)], after, bytes.length > end);
  if (problems.length === 0) return frames.reduce((last, frame) => Math.max(last, frame.last), after);
  expect(new JournalDamage('/data', problems).message).toMatch(
    /^the journal file store\.journal-0 (is damaged (at|before) byte|was cut short).*plat store repair/,
  );
  return 'refused';
}
const changed = (change: (bytes: Buffer) => void): Buffer => {
  // What was never written behind the frames is cut to a little, which is read in no time.
  const bytes = Buffer.from(journal.subarray(0, end + 600));
  change(bytes);
  return bytes;
};

test('a journal as it was written is read whole', () => {
  expect(outcome(journal)).toBe(COMMITS);
});

test('every flipped bit is found, in whichever frame', () => {
  // Behind the last frame there is nothing that was written.
  const isOfHead = (byte: number): boolean => starts.some((start) => byte >= start && byte < start + HEAD_BYTES);
  for (let bit = 0; bit < end * 8; bit++) {
    // A checksum is over the rest of a frame: one bit of each byte, another each time.
    if (!isOfHead(bit >> 3) && (bit >> 3) % 8 !== (bit & 7)) continue;
    const got = outcome(
      changed((bytes) => {
        bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
      }),
    );
    if (got !== 'refused') expect(`bit ${bit}: ${got}`).toBe(`bit ${bit}: refused`);
  }
});

test('a file that was cut short is refused, at whichever byte', () => {
  for (let length = 0; length <= end; length++) expect(outcome(journal.subarray(0, length))).toBe('refused');
});

test('a write that did not finish is left out without a word, whichever of its sectors are missing', () => {
  const last = starts[COMMITS - 1] as number;
  for (let at = last; at < end; at++) expect(outcome(changed((bytes) => bytes.fill(0, at, end)))).toBe(COMMITS - 1);
  expect(outcome(changed((bytes) => bytes.fill(0, last, last + 40)))).toBe(COMMITS - 1);
  expect(outcome(changed((bytes) => bytes.fill(0, last + 100, last + 612)))).toBe(COMMITS - 1);
});

test('bytes that are gone before the last frame are never passed over', () => {
  const last = starts[COMMITS - 1] as number;
  for (let from = 0; from < last; from += 7) {
    // A byte that no frame has in that place.
    expect(outcome(changed((bytes) => bytes.fill(0xee, from, Math.min(from + 64, last))))).toBe('refused');
    expect(outcome(changed((bytes) => bytes.fill(0xff, from, from + 1)))).toBe(journal[from] === 0xff ? COMMITS : 'refused');
  }
  // A frame taken out, with all that follows moved up.
  for (let frame = 0; frame < COMMITS - 1; frame++) {
    const [from, to] = [starts[frame] as number, starts[frame + 1] as number];
    expect(outcome(Buffer.concat([journal.subarray(0, from), journal.subarray(to, end), Buffer.alloc(to - from + 600)]))).toBe('refused');
  }
});

test('frames that are doubled or in another order are the same frames', () => {
  const part = (frame: number): Buffer => journal.subarray(starts[frame], starts[frame + 1] ?? end);
  const all = [0, 1, 2, 3].map(part);
  const padded = (...parts: Buffer[]): Buffer => Buffer.concat([...parts, Buffer.alloc(600)]);
  expect(outcome(padded(...all, part(1)))).toBe(COMMITS);
  expect(outcome(padded(part(0), part(2), part(1), part(3)))).toBe(COMMITS);
});

test('a frame of another history does not fit between two', async () => {
  const dataDir = join(parent, 'other');
  const engine = await openLmdbEngine({ dataDir, clock: new FakeClock() });
  await engine.commit([put('x', '1'), put('y', 'a longer value')]);
  await engine.commit([put('x', 'not 2')]);
  const other = readFileSync(join(dataDir, JOURNAL_FILES[0]));
  await engine.close();
  const second = headAt('', other, starts[1] as number);
  expect(second).toMatchObject({ first: 2, last: 2 });
  const parts = [journal.subarray(0, starts[1]), other.subarray(starts[1], second?.end), journal.subarray(starts[2], end + 600)];
  expect(outcome(Buffer.concat(parts))).toBe('refused');
});

test('what the tables have may be damaged in the journal', () => {
  const bytes = changed((damaged) => damaged.fill(0, 0, starts[2]));
  expect(outcome(bytes, 2)).toBe(COMMITS);
  expect(outcome(bytes, 1)).toBe('refused');
  expect(outcome(bytes, COMMITS)).toBe(COMMITS);
});

test('damage is named: the file, the byte, the revisions, and what is behind it', () => {
  const directory = join(parent, 'named');
  mkdirSync(directory);
  writeFileSync(
    join(directory, JOURNAL_FILES[0]),
    Buffer.concat([
      changed((bytes) => bytes.fill(0xee, (starts[1] as number) + 50, (starts[1] as number) + 60)),
      Buffer.alloc(JOURNAL_BYTES),
    ]),
  );
  const { problems, frames, beyond, highest } = inspectJournal(directory, 0);
  expect(problems).toMatchObject([{ offset: starts[1], from: 2, to: 2 }]);
  expect(frames.map(({ last }) => last)).toEqual([1]);
  expect(beyond.map(({ first }) => first)).toEqual([3, 4]);
  expect(highest).toBe(4);
});

describe('with tables', () => {
  test('a server whose journal is missing is not started as if nothing had been', async () => {
    const dataDir = join(parent, 'running');
    const engine = await openLmdbEngine({ dataDir });
    await engine.commit([put('x', '1')]);
    await engine.get('x');
    const copy = join(parent, 'copied');
    mkdirSync(copy);
    copyFileSync(join(dataDir, 'store.mdb'), join(copy, 'store.mdb'));
    await engine.close();
    await expect(openLmdbEngine({ dataDir: copy })).rejects.toThrow(/did not end in order, and the journal files it left are missing/);
    // The file of a server that ended in order needs no journal.
    rmSync(copy, { recursive: true });
    mkdirSync(copy);
    copyFileSync(join(dataDir, 'store.mdb'), join(copy, 'store.mdb'));
    const again = await openLmdbEngine({ dataDir: copy });
    expect((await again.get('x'))?.value.toString()).toBe('1');
    await again.close();
  });

  test.each(JOURNAL_FILES)('nor one of which %s is missing: it may hold the last commits', async (gone) => {
    const dataDir = join(parent, `without-${gone}`);
    const engine = await openLmdbEngine({ dataDir });
    await engine.commit([put('x', '1')]);
    await engine.get('x');
    const copy = join(parent, `copied-without-${gone}`);
    mkdirSync(copy);
    for (const name of ['store.mdb', ...JOURNAL_FILES.filter((one) => one !== gone)]) copyFileSync(join(dataDir, name), join(copy, name));
    await engine.close();
    await expect(openLmdbEngine({ dataDir: copy })).rejects.toThrow(
      `did not end in order, and the journal file ${gone} that it left is missing`,
    );
  });

  test('a refused start changes nothing, and revisions never go back', async () => {
    const dataDir = join(parent, 'running');
    const damage = changed((bytes) => bytes.fill(0xee, (starts[1] as number) + 50, (starts[1] as number) + 60));
    const bytes = Buffer.concat([damage, Buffer.alloc(JOURNAL_BYTES)]);
    writeFileSync(join(dataDir, JOURNAL_FILES[0]), bytes);
    for (let attempt = 0; attempt < 2; attempt++) await expect(openLmdbEngine({ dataDir })).rejects.toThrow(/revision 2 is missing/);
    expect(readFileSync(join(dataDir, JOURNAL_FILES[0])).equals(bytes)).toBe(true);
  });
});
