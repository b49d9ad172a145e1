/** The JavaScript client at its newest release. */
import { describe } from 'vitest';
import { programsMissing, scriptTests } from '../support/foreign-client.ts';

const missing = programsMissing();
const workloads = ['controllers', 'scheduler', 'nodes'] as const;

describe.skipIf(missing !== undefined)(`@kubernetes/client-node 2 (${missing ?? 'found'})`, () => {
  scriptTests('node', 'client-node.mjs', { identity: 'kubernetes', workloads }, [
    'version and health',
    'create, read, replace, delete',
    'lists in pages, by labels and fields; a collection is deleted',
    'patches of every type, scale',
    'objects of any kind, from YAML; apply on the server',
    'custom objects',
    'watch',
    'an informer holds what the server holds',
    'logs of a pod, and commands in it',
    'metrics',
    'credential plug-ins, and what their users may do',
    'the token of a service account',
  ]);
});
