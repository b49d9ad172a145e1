/** `plat create role`, `clusterrole`, `rolebinding` and `clusterrolebinding`. */
import { FlagError, list, pairs, repeated, text } from '@plat-dev/lib/flags';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { parseLabelSelector } from '@plat-dev/meta/labels';
import type { JsonObject } from '@plat-dev/schema/types';
import { platVerbs } from '../auth/asked-action.ts';
import type { IO } from '../command.ts';
import { isStock } from '../program.ts';
import type { Work } from '../work.ts';
import { type Maker, maker, type World } from './maker.ts';

const each = (help: string, value: string) => repeated<readonly string[]>([], help, value, (values) => values);
const roleFlags = {
  verb: list([], 'Verbs that are allowed: get,list,watch.', { value: 'VERB,…' }),
  resource: list([], 'Types that they are allowed on: pods,deployments.apps,pods/log, or *.* for all.', { value: 'TYPE,…' }),
  'resource-name': each('Only the object of this name; may be repeated.', 'NAME'),
};
const clusterRoleFlags = {
  ...roleFlags,
  'non-resource-url': list([], 'Paths that are allowed: /metrics,/logs/*.', { value: 'PATH,…' }),
  'aggregation-rule': pairs('Take the rules of all cluster roles with these labels.', { value: 'LABEL=VALUE,…' }),
};
export const bindingFlags = {
  user: each('User; may be repeated.', 'NAME'),
  group: each('Group; may be repeated.', 'NAME'),
  serviceaccount: each('Service account; may be repeated.', 'NAMESPACE:NAME'),
};

interface RoleOptions {
  readonly verb: readonly string[];
  readonly resource: readonly string[];
  readonly resourceName: readonly string[];
}
interface ClusterRoleOptions extends RoleOptions {
  readonly nonResourceUrl: readonly string[];
  readonly aggregationRule: ReadonlyMap<string, string>;
}

const accessGroup = ({ identity }: World): string => groupName(identity as Identity, 'rbac.authorization');

async function roleRules(options: RoleOptions, work: Work): Promise<JsonObject[]> {
  if (options.verb.length === 0) throw new FlagError('which verbs? For example: --verb=get,list,watch');
  if (options.resource.length === 0) throw new FlagError('which types? For example: --resource=pods,deployments.apps');
  return resourceRules(options, work);
}

async function clusterRoleRules(options: ClusterRoleOptions, work: Work): Promise<JsonObject> {
  const { verb, resource, nonResourceUrl, resourceName, aggregationRule } = options;
  if (aggregationRule.size > 0) {
    if (verb.length + resource.length + nonResourceUrl.length + resourceName.length > 0) {
      throw new FlagError('--aggregation-rule excludes --verb, --resource, --resource-name and --non-resource-url');
    }
    const matchLabels = Object.fromEntries(aggregationRule);
    for (const [key, value] of aggregationRule) parseLabelSelector(`${key}=${value}`);
    return { aggregationRule: { clusterRoleSelectors: [{ matchLabels }] } };
  }
  if (nonResourceUrl.length === 0) return { rules: await roleRules(options, work) };
  if (verb.length === 0) throw new FlagError('which verbs? For example: --verb=get');
  checkPaths(nonResourceUrl, verb);
  const paths: JsonObject = { nonResourceURLs: [...nonResourceUrl], verbs: distinct(verb) };
  return { rules: [...(await resourceRules(options, work)), paths] };
}

function checkPaths(paths: readonly string[], verbs: readonly string[]): void {
  for (const verb of verbs) {
    if (!pathVerbs.has(verb)) throw new FlagError(`--verb=${verb} has no meaning for --non-resource-url: use ${[...pathVerbs].join(', ')}`);
  }
  for (const path of paths) {
    if (path !== '*' && !path.startsWith('/')) throw new FlagError(`--non-resource-url: ${JSON.stringify(path)} must begin with a slash`);
    if (path.slice(0, -1).includes('*')) throw new FlagError(`--non-resource-url: ${JSON.stringify(path)} may have a * at its end alone`);
  }
}
const pathVerbs: ReadonlySet<string> = new Set(['*', 'get', 'post', 'put', 'delete', 'patch', 'head', 'options']);
const resourceVerbs: ReadonlySet<string> = new Set([
  ...['*', 'get', 'delete', 'list', 'create', 'update', 'patch', 'watch', 'proxy', 'deletecollection', 'use', 'bind', 'escalate'],
  'impersonate',
]);

/** One rule a group, by name. */
async function resourceRules({ verb, resource, resourceName }: RoleOptions, work: Work): Promise<JsonObject[]> {
  const byGroup = new Map<string, string[]>();
  if (resource.length > 0) warnOfVerbs(verb, work.io);
  for (const word of resource.includes('*') ? ['*'] : resource) {
    const { group, name } = await resourceOf(word, work);
    const names = byGroup.get(group) ?? [];
    if (!names.includes(name)) names.push(name);
    byGroup.set(group, names);
  }
  return [...byGroup]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, resources]) => ({
      apiGroups: [group],
      resources,
      ...(resourceName.length > 0 && { resourceNames: [...new Set(resourceName)] }),
      verbs: distinct(verb),
    }));
}
function warnOfVerbs(verbs: readonly string[], io: IO): void {
  const isKnown = (verb: string): boolean => resourceVerbs.has(verb) || (!isStock(io) && platVerbs.includes(verb));
  for (const verb of verbs) if (!isKnown(verb)) io.err(`Warning: '${verb}' is not a standard resource verb\n`);
}
/** `pods`, `deploy`, `deployments.apps/scale`, `*` of the core group, `*.apps`, `*.*`. Types that the server does not have are refused: the rule would have no effect. */
async function resourceOf(word: string, work: Work): Promise<{ group: string; name: string }> {
  const slash = word.indexOf('/');
  const [type, below] = slash === -1 ? [word, ''] : [word.slice(0, slash), word.slice(slash)];
  if (type === '*') return { group: '', name: `*${below}` };
  if (type.startsWith('*.')) return { group: type.slice(2), name: `*${below}` };
  const { group, name } = await work.discovery.find(type).catch((error: Error) => {
    const dot = type.indexOf('.');
    if (!isStock(work.io) || error.name !== 'Error' || dot === -1) throw error;
    throw new Error(
      `the server doesn't have a resource type ${JSON.stringify(type.slice(0, dot))} in group ${JSON.stringify(type.slice(dot + 1))}`,
    );
  });
  return { group, name: `${name}${below}` };
}
const distinct = (words: readonly string[]): string[] => (words.includes('*') ? ['*'] : [...new Set(words)]);

export interface SubjectOptions {
  readonly user: readonly string[];
  readonly group: readonly string[];
  readonly serviceaccount: readonly string[];
}
export function subjectsOf({ user, group, serviceaccount }: SubjectOptions, apiGroup: string): JsonObject[] {
  const accounts = serviceaccount.map((text) => {
    const [namespace, name, more] = text.split(':');
    if (!namespace || !name || more !== undefined)
      throw new FlagError(`--serviceaccount: ${JSON.stringify(text)} is not of the form namespace:name`);
    return { kind: 'ServiceAccount', namespace, name };
  });
  return [
    ...user.map((name) => ({ kind: 'User', apiGroup, name })),
    ...group.map((name) => ({ kind: 'Group', apiGroup, name })),
    ...accounts,
  ];
}

function roleRef(role: string, clusterRole: string, apiGroup: string): JsonObject {
  if ((role === '') === (clusterRole === '')) throw new FlagError('which role? Name it with either --role or --clusterrole');
  return role === '' ? { apiGroup, kind: 'ClusterRole', name: clusterRole } : { apiGroup, kind: 'Role', name: role };
}

const facts = { group: 'rbac.authorization', namespaced: false };
export const accessMakers: readonly Maker[] = [
  maker({
    ...facts,
    path: 'clusterrole',
    summary: 'Create a cluster role.',
    examples: [
      'plat create clusterrole reader --verb=get,list --resource=pods,deployments.apps',
      'plat create clusterrole metrics --verb=get --non-resource-url=/metrics',
      'plat create clusterrole monitoring --aggregation-rule=example.com/aggregate-to-monitoring=true',
    ],
    kind: 'ClusterRole',
    plural: 'clusterroles',
    needsServer: true,
    flags: clusterRoleFlags,
    make: (options, world) => clusterRoleRules(options, world.work()),
  }),
  maker({
    ...facts,
    path: 'clusterrolebinding',
    summary: 'Bind a cluster role to users, groups and service accounts.',
    examples: [
      'plat create clusterrolebinding readers --clusterrole=reader --group=dev',
      'plat create clusterrolebinding ann-admin --clusterrole=cluster-admin --user=ann',
      'plat create clusterrolebinding robots --clusterrole=view --serviceaccount=team-a:robot',
    ],
    kind: 'ClusterRoleBinding',
    plural: 'clusterrolebindings',
    flags: { clusterrole: text('', 'Cluster role to bind.', { value: 'NAME' }), ...bindingFlags },
    make: (options, world) => {
      if (options.clusterrole === '') throw new FlagError('which role? For example: --clusterrole=view');
      return binding(roleRef('', options.clusterrole, accessGroup(world)), options, world);
    },
  }),
  maker({
    ...facts,
    path: 'role',
    summary: 'Create a role.',
    examples: [
      'plat create role reader --verb=get,list,watch --resource=pods',
      'plat create role restarter --verb=patch --resource=deployments.apps --resource-name=web',
      'plat create role logs --verb=get --resource=pods,pods/log',
    ],
    kind: 'Role',
    plural: 'roles',
    namespaced: true,
    needsServer: true,
    flags: roleFlags,
    make: async (options, world) => ({ rules: await roleRules(options, world.work()) }),
  }),
  maker({
    ...facts,
    path: 'rolebinding',
    summary: 'Bind a role or a cluster role in a namespace.',
    examples: [
      'plat create rolebinding readers --role=reader --serviceaccount=default:web',
      'plat create rolebinding admins --clusterrole=admin --user=ann --user=ben',
      'plat create rolebinding team --clusterrole=edit --group=team-a -n team-a',
    ],
    kind: 'RoleBinding',
    plural: 'rolebindings',
    namespaced: true,
    flags: {
      role: text('', 'Role of the namespace to bind.', { value: 'NAME' }),
      clusterrole: text('', 'Cluster role to bind.', { value: 'NAME' }),
      ...bindingFlags,
    },
    make: (options, world) => binding(roleRef(options.role, options.clusterrole, accessGroup(world)), options, world),
  }),
];

function binding(ref: JsonObject, options: SubjectOptions, world: World): JsonObject {
  const subjects = subjectsOf(options, accessGroup(world));
  return { roleRef: ref, ...(subjects.length > 0 && { subjects }) };
}
