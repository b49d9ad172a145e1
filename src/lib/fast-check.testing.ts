/** fast-check with the seed of this run (`seed.testing.ts`); a failure prints it. */
import fc from 'fast-check';
import { testSeed } from './seed.testing.ts';

fc.configureGlobal({ seed: testSeed });
export default fc;
