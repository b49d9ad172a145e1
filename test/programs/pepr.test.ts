/** A Pepr module: admission and watches, built and installed as its users do. */
import { describe } from 'vitest';
import { oldKubectlMissing, programsMissing, scriptTests } from '../support/foreign-client.ts';

const missing = programsMissing() ?? oldKubectlMissing();
const workloads = ['controllers', 'scheduler', 'nodes'] as const;

describe.skipIf(missing !== undefined)(`Pepr (${missing ?? 'found'})`, () => {
  scriptTests('node', 'pepr.mjs', { identity: 'kubernetes', workloads }, [
    'init and build',
    'what was built is applied, and its deployments become available',
    'what the webhook is asked about is refused as long as it cannot be reached',
    'the module starts with the rights of its account',
    'objects are changed by the module',
    'objects are refused by the module',
    'objects are reconciled, and finalized',
    'what was applied is removed',
  ]);
});
