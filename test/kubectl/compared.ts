/**
 * Every command of kubectl 1.24, with the test that runs it by the stock kubectl and by plat called as kubectl, or the reason why
 * none does. `compare.test.ts` holds the list against that of kubectl 1.24, and the files against the list.
 */

const apply = 'test/kubectl/apply-scenarios.test.ts';
const compare = 'test/kubectl/compare.test.ts';
const describe = 'test/cli/describe.test.ts';
const kustomize = 'test/kubectl/kustomize.test.ts';
const making = 'test/kubectl/making.test.ts';
const operations = 'test/cli/operations-kubectl.test.ts';
const output = 'test/cli/output.test.ts';

const commandsBy: Readonly<Record<string, readonly string[]>> = {
  [apply]: ['apply', 'apply set-last-applied', 'apply view-last-applied', 'delete', 'diff', 'edit', 'replace'],
  [compare]: [
    'alpha events',
    'api-resources',
    'api-versions',
    'attach',
    'auth can-i',
    'certificate approve',
    'certificate deny',
    'cluster-info',
    'cluster-info dump',
    'config current-context',
    'config delete-cluster',
    'config delete-context',
    'config delete-user',
    'config get-clusters',
    'config get-contexts',
    'config get-users',
    'config rename-context',
    'config set',
    'config set-cluster',
    'config set-context',
    'config set-credentials',
    'config unset',
    'config use-context',
    'config view',
    'cp',
    'create clusterrole',
    'create clusterrolebinding',
    'create namespace',
    'create priorityclass',
    'create quota',
    'create secret tls',
    'create service externalname',
    'create service loadbalancer',
    'create serviceaccount',
    'create token',
    'debug',
    'exec',
    'logs',
    'plugin list',
    'port-forward',
    'proxy',
    'set serviceaccount',
    'top node',
    'top pod',
    'version',
    'wait',
  ],
  [describe]: ['describe'],
  [kustomize]: ['kustomize'],
  [making]: [
    'annotate',
    'autoscale',
    'create',
    'create configmap',
    'create cronjob',
    'create deployment',
    'create ingress',
    'create job',
    'create poddisruptionbudget',
    'create role',
    'create rolebinding',
    'create secret docker-registry',
    'create secret generic',
    'create service clusterip',
    'create service nodeport',
    'expose',
    'label',
    'patch',
    'run',
    'scale',
    'set env',
    'set image',
    'set resources',
    'set selector',
    'set subject',
  ],
  [operations]: [
    'auth reconcile',
    'cordon',
    'drain',
    'explain',
    'rollout history',
    'rollout pause',
    'rollout restart',
    'rollout resume',
    'rollout status',
    'rollout undo',
    'taint',
    'uncordon',
  ],
  [output]: ['get'],
};
/** By the command, the file of the test that compares it. */
export const comparedIn: ReadonlyMap<string, string> = new Map(
  Object.entries(commandsBy).flatMap(([file, names]) => names.map((name) => [name, file] as const)),
);

const group = 'it prints its help, whose sentences are our own';
/** By the command, why its output is not compared. */
export const notCompared: ReadonlyMap<string, string> = new Map([
  ...['alpha', 'auth', 'certificate', 'config', 'create secret', 'create service', 'plugin', 'rollout', 'set', 'top'].map(
    (name) => [name, group] as const,
  ),
  ['apply edit-last-applied', 'it opens the file of edit, which apply-scenarios compares, on what view-last-applied prints'],
  ['completion', 'the scripts are our own: test/cli/completion.test.ts runs them in the shells'],
  ['help', group],
  ['options', group],
]);
