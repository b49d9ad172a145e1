/**
 * A store file with one flipped bit, wherever that is: a start refuses it, or serves everything but what it names and goes
 * on writing without harm; a repair keeps or names every object. In a process of its own: the database library trusts its
 * pages, and a crash of it must be seen as such.
 */
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../src/lib/random.ts';
import { temporaryDirectory } from '../../src/lib/temporary.testing.ts';
import { HEADER, Pages } from '../../src/storage/engines/lmdb/page-file.ts';
import { openLmdbEngine } from '../../src/storage/engines/lmdb.ts';
import { bundleChild, startChild } from '../support/child.ts';

const KEYS = 160;
const key = (i: number): string => `core/configmaps/default/object-${String(i).padStart(3, '0')}`;
const value = (i: number): string => `value of ${i} ${'x'.repeat((i % 6) * 700)}`;
const wanted = new Map(Array.from({ length: KEYS }, (_, i) => [key(i), value(i)]));

type Contents = [string, string | null][];
interface Finding {
  readonly kind: string;
  readonly message: string;
  readonly startsAnyway: boolean;
}
interface Outcome {
  readonly at: number;
  readonly findings: Finding[];
  readonly refused?: string;
  readonly before?: Contents;
  readonly after?: Contents;
  readonly failure?: string;
  readonly later?: Finding[];
  readonly repaired?: { kept: Contents; lost: string[]; left: Finding[]; refused?: string };
}

let made: string;
let work: string;
let program: string;
let bytes: Buffer;
beforeAll(async () => {
  const parent = temporaryDirectory('plat-page-damage');
  [made, work] = [join(parent, 'made'), parent];
  const engine = await openLmdbEngine({ dataDir: made, unsafeNoSync: true });
  // Superseded versions that are forgotten leave free pages behind.
  for (const text of ['old', undefined])
    for (let i = 0; i < KEYS; i++) await engine.commit([{ type: 'put', key: key(i), value: Buffer.from(text ?? value(i)) }]);
  await engine.compact(engine.revision);
  await engine.close();
  bytes = readFileSync(join(made, 'store.mdb'));
  program = await bundleChild(join(import.meta.dirname, 'page-damage-child.ts'));
});

async function outcomes(flips: readonly (readonly [number, number])[]): Promise<Outcome[]> {
  const child = startChild(process.execPath, [program, made, work, JSON.stringify(flips)]);
  await child.ended;
  const found = child.lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Outcome);
  const last = child.lines.at(-1);
  if (found.length < flips.length) throw new Error(`the process ended at "${last}": ${child.errors() || 'it said nothing'}`);
  return found;
}

/** Holds what must be true of any flipped bit. */
function check({ at, findings, refused, before, after, failure, later, repaired }: Outcome): void {
  const where = (what: unknown): unknown[] => [`byte ${at}`, what];
  if (refused !== undefined) {
    expect(where(refused)).toEqual(where(expect.stringMatching(/store file .* (is damaged|has the)|is not a store/)));
    expect(where(findings.some(({ startsAnyway }) => !startsAnyway))).toEqual(where(true));
  } else {
    expect(where(failure)).toEqual(where(undefined));
    for (const contents of [before, after] as Contents[]) {
      expect(where(contents.map(([name]) => name))).toEqual(where([...wanted.keys()]));
      for (const [name, text] of contents) if (text !== null) expect(where(text)).toEqual(where(wanted.get(name)));
    }
    expect(where(later?.filter(({ kind }) => kind === 'page' || kind === 'file'))).toEqual(where([]));
  }
  if (repaired === undefined) return;
  expect(where(repaired.refused)).toEqual(where(undefined));
  expect(where(repaired.left)).toEqual(where([]));
  for (const [name, text] of repaired.kept) expect(where(text)).toEqual(where(wanted.get(name)));
  expect(where([...repaired.kept.map(([name]) => name), ...repaired.lost].sort())).toEqual(where([...wanted.keys()]));
}

test('bits flipped anywhere in the file', { timeout: 180_000 }, async () => {
  const seed = Number(process.env.SEED ?? 20_26);
  const random = seededRandom(seed);
  // Which pages the file has differs from run to run. One that is in use whatever they are: the root of the free pages.
  const flips = Array.from({ length: 60 }, () => [random.below(bytes.length), 1 << random.below(8)] as const);
  flips.push([freeListRoot() + 18, 4]);
  const found = await outcomes(flips);
  for (const one of found) check(one);
  expect(found.filter(({ refused }) => refused !== undefined).length).toBeGreaterThan(0);
});

/** Where the page begins that leads to the lists of free pages. */
function freeListRoot(): number {
  const file = new Pages(openSync(join(made, 'store.mdb'), 'r'));
  file.readMeta(() => {});
  return (file.trees[0]?.root ?? 0) * 4096;
}

/** Where pages of a kind begin, in bytes; those that are in use, or at least were written by the newest transactions. */
function pagesWith(flags: number): number[] {
  const found: number[] = [];
  for (let at = 8192; at < bytes.length; at += 4096)
    if (bytes.readUInt16LE(at + 18) === flags && bytes.readUInt32LE(at) * 4096 === at) found.push(at);
  return found;
}

test.each([
  ['branch pages', 1, [0, 18, 20, 22, HEADER, 4080]],
  ['leaf pages', 2, [0, 18, 20, 22, HEADER, 4080]],
  ['heads of large values', 4, [0, 18, 20]],
])('%s', { timeout: 180_000 }, async (_, flags, places) => {
  const pages = pagesWith(flags);
  expect(pages.length).toBeGreaterThan(0);
  const step = Math.max(1, Math.floor(pages.length / 4));
  const flips = pages.filter((_, i) => i % step === 0).flatMap((page) => places.map((place) => [page + place, 4] as const));
  for (const one of await outcomes(flips)) check(one);
});

test('lists of free pages: a start refuses, since the library would write over what is in use', { timeout: 180_000 }, async () => {
  const root = freeListRoot();
  const lists: number[] = [];
  for (let i = 0; i < bytes.readUInt16LE(root + 20) / 2; i++) lists.push(root + HEADER + bytes.readUInt16LE(root + HEADER + 2 * i) + 16);
  expect(lists.length).toBeGreaterThan(0);
  const flips = lists.flatMap((list) => [0, 1, 7, 8, 9, 10, 15, 16].map((byte) => [list + byte, 0x10] as const));
  const found = await outcomes(flips);
  for (const one of found) check(one);
  const refused = found.filter((one) => one.refused !== undefined);
  expect(refused.length).toBeGreaterThan(flips.length / 3);
  for (const { refused: message } of refused) expect(message).toMatch(/free/);
});

test('the two pages that describe the file', { timeout: 180_000 }, async () => {
  const flips = [0, 1].flatMap((page) =>
    [0, HEADER, HEADER + 4, HEADER + 25, HEADER + 112, HEADER + 121].map((at) => [page * 4096 + at, 4] as const),
  );
  for (const { at, refused, findings, repaired } of await outcomes(flips)) {
    if (refused === undefined) continue;
    expect([at, findings.some(({ startsAnyway }) => !startsAnyway)]).toEqual([at, true]);
    // The other page may describe what was there one transaction before; nothing is kept that was not written.
    for (const [name, text] of repaired?.kept ?? []) expect([at, text]).toEqual([at, wanted.get(name)]);
    expect([at, (repaired?.kept.length ?? 0) + (repaired?.lost.length ?? 0)]).toEqual([at, KEYS]);
  }
});
