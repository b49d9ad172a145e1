/**
 * The seed of every random test. It is the same in every run, so that two changes are compared on the same inputs;
 * `TEST_SEED=random` draws one, and `TEST_SEED=<number>` repeats it.
 */
const given = process.env.TEST_SEED ?? '20261';
export const testSeed = given === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(given);
if (!Number.isSafeInteger(testSeed)) throw new Error(`TEST_SEED is ${given}: it is a whole number or "random"`);

/** Of so many inputs a usual run tries this part, `TEST_ROUNDS=1` all of them, and `TEST_ROUNDS=10` ten times as many. */
const PART = Number(process.env.TEST_ROUNDS ?? 0.25);
if (!(PART > 0)) throw new Error(`TEST_ROUNDS is ${process.env.TEST_ROUNDS}: it is a number above 0`);
/** Fewer than this are not made fewer. */
const FEW = 6;

/** How many random inputs a test tries, given how many it would try in a long run. */
export const rounds = (count: number): number => Math.max(Math.min(count, FEW), Math.ceil(count * PART));
