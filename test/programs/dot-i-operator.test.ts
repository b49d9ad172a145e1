/** An operator written with @dot-i/k8s-operator. */
import { describe } from 'vitest';
import { programsMissing, scriptTests } from '../support/foreign-client.ts';

const missing = programsMissing();

describe.skipIf(missing !== undefined)(`@dot-i/k8s-operator (${missing ?? 'found'})`, () => {
  // Its watches end after one to two seconds.
  scriptTests('node', 'dot-i-operator.mjs', { identity: 'kubernetes', minRequestTimeout: 1 }, [
    'the operator registers its kind and watches',
    'an object gets its finalizer, what it stands for, and a status',
    'a change is followed',
    'a deletion waits for the operator',
    'a watch that the server ended is resumed',
  ]);
});
