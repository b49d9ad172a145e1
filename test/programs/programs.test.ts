/** Other people's programs from npm, as their users run them against this server: each has a script of steps in this folder. */
import { describe } from 'vitest';
import { oldKubectlMissing, programsMissing, scriptTests } from '../support/foreign-client.ts';

const missing = programsMissing();
const identity = 'kubernetes';
const workloads = ['controllers', 'scheduler', 'nodes'] as const;

describe.skipIf(missing !== undefined)(`@kubernetes/client-node 2 (${missing ?? 'found'})`, () => {
  scriptTests('node', 'client-node.mjs', { identity, workloads }, [
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

describe.skipIf(missing !== undefined)(`kubernetes-fluent-client (${missing ?? 'found'})`, () => {
  scriptTests('node', 'fluent-client.mjs', { identity, workloads }, [
    'create, get, list by labels and fields, delete',
    'apply, and its conflicts',
    'watch',
    'finalizers',
    'a custom kind: types from its definition, status',
    'a deployment is scaled; logs and eviction of its pods',
    'raw paths',
  ]);
});

describe.skipIf(missing !== undefined)(`@dot-i/k8s-operator (${missing ?? 'found'})`, () => {
  // Its watches end after one to two seconds.
  scriptTests('node', 'dot-i-operator.mjs', { identity, minRequestTimeout: 1 }, [
    'the operator registers its kind and watches',
    'an object gets its finalizer, what it stands for, and a status',
    'a change is followed',
    'a deletion waits for the operator',
    'a watch that the server ended is resumed',
  ]);
});

const withKubectlMissing = missing ?? oldKubectlMissing();
describe.skipIf(withKubectlMissing !== undefined)(`Pepr (${withKubectlMissing ?? 'found'})`, () => {
  scriptTests('node', 'pepr.mjs', { identity, workloads }, [
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

describe.skipIf(withKubectlMissing !== undefined)(`cdk8s (${withKubectlMissing ?? 'found'})`, () => {
  scriptTests('node', 'cdk8s.mjs', { identity, workloads }, [
    'kinds are imported from the server',
    'an app is synthesized and applied',
    'what has not changed is left alone',
    'a change is applied, and what is obsolete is pruned',
  ]);
});
