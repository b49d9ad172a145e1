/**
 * A store file with one flipped bit, wherever that is: a start refuses it, or serves everything but what it names and goes
 * on writing without harm; a repair keeps or names every object. In a process of its own: the database library trusts its
 * pages, and a crash of it must be seen as such.
 */
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../packages/lib/src/random.ts';
import { rounds } from '../../packages/lib/src/testing/seed.testing.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { HEADER, Pages } from '../../packages/storage/src/engines/lmdb/pages/page-file.ts';
import { openLmdbEngine } from '../../packages/storage/src/engines/lmdb.ts';
import { bundleChild, startChild } from '../support/child.ts';
import { digest } from './page-damage-digest.ts';

const KEYS = 160;
const key = (i: number): string => `core/configmaps/default/object-${String(i).padStart(3, '0')}`;
const value = (i: number): string => `value of ${i} ${'x'.repeat((i % 6) * 700)}`;
const wanted = new Map(Array.from({ length: KEYS }, (_, i) => [key(i), digest(value(i))]));

/** Keys and digests of their values; null: a value that cannot be read. */
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

type Flip = readonly [at: number, mask: number];
const places = ['anywhere', 'branch pages', 'leaf pages', 'heads of large values', 'lists of free pages', 'descriptions'] as const;
type Place = (typeof places)[number];

/** Bits that are flipped anywhere: more in a long run. */
const FLIPS = Number(process.env.FLIPS ?? rounds(40));
/** Pages of each kind that are tried. */
const PAGES = 2;

let made: string;
let bytes: Buffer;
const found = new Map<Place, Outcome[]>();
beforeAll(async () => {
  const parent = temporaryDirectory('plat-page-damage');
  made = join(parent, 'made');
  const engine = await openLmdbEngine({ dataDir: made, unsafeNoSync: true });
  // Superseded versions that are forgotten leave free pages behind.
  for (const text of ['old', undefined])
    for (let i = 0; i < KEYS; i++) await engine.commit([{ type: 'put', key: key(i), value: Buffer.from(text ?? value(i)) }]);
  await engine.compact(engine.revision);
  await engine.close();
  bytes = readFileSync(join(made, 'store.mdb'));
  const flips: Readonly<Record<Place, readonly Flip[]>> = {
    anywhere: flipsAnywhere(),
    'branch pages': flipsOf(1, [0, 18, 20, 22, HEADER, 4080]),
    'leaf pages': flipsOf(2, [0, 18, 20, 22, HEADER, 4080]),
    'heads of large values': flipsOf(4, [0, 18, 20]),
    'lists of free pages': flipsOfFreeLists(),
    descriptions: [0, 1].flatMap((page) =>
      [0, HEADER, HEADER + 4, HEADER + 25, HEADER + 112, HEADER + 121].map((at) => [page * 4096 + at, 4] as const),
    ),
  };
  // One process tries them all: starting it, and compiling what it runs, takes longer than a dozen of them.
  const program = await bundleChild(join(import.meta.dirname, 'page-damage-child.ts'));
  const all = places.flatMap((place) => flips[place]);
  const child = startChild(process.execPath, [program, made, parent, JSON.stringify(all)]);
  await child.ended;
  const outcomes = child.lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Outcome);
  if (outcomes.length < all.length) throw new Error(`the process ended at "${child.lines.at(-1)}": ${child.errors() || 'it said nothing'}`);
  for (const place of places) found.set(place, outcomes.splice(0, flips[place].length));
}, 240_000);

/** What became of the flips in a place, of which there must be some. */
function outcomesOf(place: Place): Outcome[] {
  const outcomes = found.get(place) ?? [];
  expect(outcomes.length).toBeGreaterThan(0);
  return outcomes;
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
      for (const [name, value] of contents)
        if (value !== null && value !== wanted.get(name)) expect(where(value)).toEqual(where(wanted.get(name)));
    }
    expect(where(later?.filter(({ kind }) => kind === 'page' || kind === 'file'))).toEqual(where([]));
  }
  if (repaired === undefined) return;
  expect(where(repaired.refused)).toEqual(where(undefined));
  expect(where(repaired.left)).toEqual(where([]));
  for (const [name, value] of repaired.kept) if (value !== wanted.get(name)) expect(where(value)).toEqual(where(wanted.get(name)));
  expect(where([...repaired.kept.map(([name]) => name), ...repaired.lost].sort())).toEqual(where([...wanted.keys()]));
}

function flipsAnywhere(): Flip[] {
  const random = seededRandom(Number(process.env.SEED ?? 20_26));
  const flips = Array.from({ length: FLIPS }, () => [random.below(bytes.length), 1 << random.below(8)] as const);
  // Which pages the file has differs from run to run. One that is in use whatever they are: the root of the free pages.
  return [...flips, [freeListRoot() + 18, 4]];
}

test('bits flipped anywhere in the file', () => {
  const outcomes = outcomesOf('anywhere');
  for (const one of outcomes) check(one);
  expect(outcomes.filter(({ refused }) => refused !== undefined).length).toBeGreaterThan(0);
});

/** Where the page begins that leads to the lists of free pages. */
function freeListRoot(): number {
  const file = new Pages(openSync(join(made, 'store.mdb'), 'r'));
  file.readMeta(() => {});
  return (file.trees[0]?.root ?? 0) * 4096;
}

/** Flips in pages of a kind: those that are in use, or at least were written by the newest transactions. */
function flipsOf(flags: number, offsets: readonly number[]): Flip[] {
  const pages: number[] = [];
  for (let at = 8192; at < bytes.length; at += 4096)
    if (bytes.readUInt16LE(at + 18) === flags && bytes.readUInt32LE(at) * 4096 === at) pages.push(at);
  const step = Math.max(1, Math.ceil(pages.length / PAGES));
  return pages.filter((_, i) => i % step === 0).flatMap((page) => offsets.map((offset) => [page + offset, 4] as const));
}

test.each(['branch pages', 'leaf pages', 'heads of large values'] as const)('%s', (place) => {
  for (const one of outcomesOf(place)) check(one);
});

/** Flips in the bytes that say how many pages a list has, and which are the first. */
function flipsOfFreeLists(): Flip[] {
  const root = freeListRoot();
  const lists: number[] = [];
  for (let i = 0; i < bytes.readUInt16LE(root + 20) / 2; i++) lists.push(root + HEADER + bytes.readUInt16LE(root + HEADER + 2 * i) + 16);
  return lists.flatMap((list) => [0, 1, 7, 8, 9, 10, 15, 16].map((byte) => [list + byte, 0x10] as const));
}

test('lists of free pages: a start refuses, since the library would write over what is in use', () => {
  const outcomes = outcomesOf('lists of free pages');
  for (const one of outcomes) check(one);
  const refused = outcomes.filter((one) => one.refused !== undefined);
  expect(refused.length).toBeGreaterThan(outcomes.length / 3);
  for (const { refused: message } of refused) expect(message).toMatch(/free/);
});

test('the two pages that describe the file', () => {
  for (const { at, refused, findings, repaired } of outcomesOf('descriptions')) {
    if (refused === undefined) continue;
    expect([at, findings.some(({ startsAnyway }) => !startsAnyway)]).toEqual([at, true]);
    // The other page may describe what was there one transaction before; nothing is kept that was not written.
    for (const [name, value] of repaired?.kept ?? []) expect([at, value]).toEqual([at, wanted.get(name)]);
    expect([at, (repaired?.kept.length ?? 0) + (repaired?.lost.length ?? 0)]).toEqual([at, KEYS]);
  }
});
