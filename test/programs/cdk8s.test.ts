/** cdk8s: import, synth, apply and prune. */
import { describe } from 'vitest';
import { oldKubectlMissing, programsMissing, scriptTests } from '../support/foreign-client.ts';

const missing = programsMissing() ?? oldKubectlMissing();
const workloads = ['controllers', 'scheduler', 'nodes'] as const;

describe.skipIf(missing !== undefined)(`cdk8s (${missing ?? 'found'})`, () => {
  scriptTests('node', 'cdk8s.mjs', { identity: 'kubernetes', workloads }, [
    'kinds are imported from the server',
    'an app is synthesized and applied',
    'what has not changed is left alone',
    'a change is applied, and what is obsolete is pruned',
  ]);
});
