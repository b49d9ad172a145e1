/** fast-check with the seed of this run (`seed.testing.ts`); a failure prints it. */
import fc from 'fast-check';
import { rounds, testSeed } from './seed.testing.ts';

fc.configureGlobal({ seed: testSeed });
export default fc;
export { rounds };

/** Any text without halves of surrogate pairs: what `fc.string({ unit: 'binary' })` makes, which takes seconds to set up. */
export const codePoints = (maxLength?: number): fc.Arbitrary<string> =>
  fc
    .array(
      fc.oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff })),
      maxLength === undefined ? {} : { maxLength },
    )
    .map((points) => String.fromCodePoint(...points));
