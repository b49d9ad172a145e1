/**
 * Fuzzing by mutation: inputs that are valid are changed at random and held against an oracle.
 *
 *   TEST_SEED=random FUZZ_RUNS=100000 npx vitest run test/fuzz/parsers.test.ts     a long run
 *   TEST_SEED=17 …                                                                 the same inputs again
 *
 * A failure prints the seed and the input; inputs that once failed stand in `kept.json` and are tried first in every run.
 */
import { readFileSync } from 'node:fs';
import { type Random, seededRandom } from '../../packages/lib/src/random.ts';
import { testSeed } from '../../packages/lib/src/testing/seed.testing.ts';

export interface FuzzTarget {
  readonly name: string;
  readonly corpus: readonly (string | Buffer)[];
  /** Parts of the language, thrown in between. */
  readonly words: readonly string[];
  /** Throws what is wrong; what the parser may throw is caught in it. */
  check(input: Buffer, random: Random): void | Promise<void>;
  /** Inputs of a run, where the usual number is too many or too few. */
  readonly runs?: number;
}

/** Inputs of most targets; those that name a number of their own have it when this is `USUAL`. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
const USUAL = 1_500;
/** Longest input; what length does is the business of the tests of bounds. */
const MOST_BYTES = 20_000;

interface Kept {
  readonly target: string;
  readonly base64: string;
}
const kept = JSON.parse(readFileSync(new URL('./kept.json', import.meta.url), 'utf8')) as Kept[];

export async function fuzz(target: FuzzTarget): Promise<void> {
  for (const { base64 } of kept.filter((one) => one.target === target.name)) await run(target, Buffer.from(base64, 'base64'), 'kept');
  const factor = RUNS / USUAL;
  const runs = Math.ceil((target.runs ?? USUAL) * factor);
  const random = seededRandom(testSeed);
  for (let i = 0; i < runs; i++) await run(target, mutated(target, random), `TEST_SEED=${testSeed}, input ${i}`, random);
}

async function run(target: FuzzTarget, input: Buffer, where: string, random = seededRandom(1)): Promise<void> {
  try {
    await target.check(input, random);
  } catch (error) {
    throw new Error(`${target.name}, ${where}: ${JSON.stringify(input.toString('latin1'))} (base64 ${input.toString('base64')})`, {
      cause: error,
    });
  }
}

function mutated({ corpus, words }: Pick<FuzzTarget, 'corpus' | 'words'>, random: Random): Buffer {
  const pick = <T>(list: readonly T[]): T => list[random.below(list.length)] as T;
  let bytes: Buffer = Buffer.from(pick(corpus) as string);
  const times = random.below(5);
  for (let i = 0; i < times; i++) {
    const at = random.below(bytes.length + 1);
    const length = random.below(Math.min(64, bytes.length) + 1);
    const cut = (from: number, to: number): Buffer => bytes.subarray(from, Math.min(to, bytes.length));
    const without = (middle: Buffer, skip = 0): Buffer => Buffer.concat([cut(0, at), middle, cut(at + skip, bytes.length)]);
    switch (random.below(9)) {
      case 0:
        if (bytes.length > 0) bytes[at % bytes.length] = random.below(256);
        break;
      case 1:
        if (bytes.length > 0) bytes[at % bytes.length] = (bytes[at % bytes.length] as number) ^ (1 << random.below(8));
        break;
      case 2:
        bytes = without(Buffer.alloc(0), length);
        break;
      case 3:
        bytes = without(cut(at, at + length));
        break;
      case 4:
        bytes = without(Buffer.from(pick(words)));
        break;
      case 5:
        bytes = without(Buffer.from(pick(words)), length);
        break;
      case 6:
        bytes = Buffer.from(cut(0, at));
        break;
      case 7: {
        const other = Buffer.from(pick(corpus) as string);
        const from = random.below(other.length + 1);
        bytes = without(other.subarray(from, from + random.below(200)), length);
        break;
      }
      default:
        bytes = without(Buffer.from(pick(words).repeat(1 + random.below(40))));
    }
  }
  return Buffer.from(bytes.subarray(0, MOST_BYTES));
}
