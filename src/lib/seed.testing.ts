/**
 * The seed of every random test. It is the same in every run, so that two changes are compared on the same inputs;
 * `TEST_SEED=random` draws one, and `TEST_SEED=<number>` repeats it.
 */
const given = process.env.TEST_SEED ?? '20261';
export const testSeed = given === 'random' ? Math.floor(Math.random() * 2 ** 31) : Number(given);
if (!Number.isSafeInteger(testSeed)) throw new Error(`TEST_SEED is ${given}: it is a whole number or "random"`);
