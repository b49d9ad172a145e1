/** kubernetes-fluent-client, which Pepr is built on. */
import { describe } from 'vitest';
import { programsMissing, scriptTests } from '../support/foreign-client.ts';

const missing = programsMissing();
const workloads = ['controllers', 'scheduler', 'nodes'] as const;

describe.skipIf(missing !== undefined)(`kubernetes-fluent-client (${missing ?? 'found'})`, () => {
  scriptTests('node', 'fluent-client.mjs', { identity: 'kubernetes', workloads }, [
    'create, get, list by labels and fields, delete',
    'apply, and its conflicts',
    'watch',
    'finalizers',
    'a custom kind: types from its definition, status',
    'a deployment is scaled; logs and eviction of its pods',
    'raw paths',
  ]);
});
