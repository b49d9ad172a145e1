/** Roles and bindings from the flags of a command line. */
import { FlagError, list, pairs, repeated } from '../lib/flags.ts';
import { parseLabelSelector } from '../meta/labels.ts';
import type { JsonObject } from '../schema/types.ts';
import type { Work } from './work.ts';

const each = (help: string, value: string) => repeated<readonly string[]>([], help, value, (values) => values);
export const roleFlags = {
  verb: list([], 'Verbs that are allowed: get,list,watch.', { value: 'VERB,…' }),
  resource: list([], 'Types that they are allowed on: pods,deployments.apps,pods/log, or *.', { value: 'TYPE,…' }),
  'resource-name': each('Only the object of this name; may be repeated.', 'NAME'),
};
export const clusterRoleFlags = {
  ...roleFlags,
  'non-resource-url': list([], 'Paths that are allowed: /metrics,/logs/*.', { value: 'PATH,…' }),
  'aggregation-rule': pairs('Take the rules of all cluster roles with these labels.', { value: 'LABEL=VALUE,…' }),
};
export const bindingFlags = {
  user: each('User; may be repeated.', 'NAME'),
  group: each('Group; may be repeated.', 'NAME'),
  serviceaccount: each('Service account; may be repeated.', 'NAMESPACE:NAME'),
};

export interface RoleOptions {
  readonly verb: readonly string[];
  readonly resource: readonly string[];
  readonly resourceName: readonly string[];
}
export interface ClusterRoleOptions extends RoleOptions {
  readonly nonResourceUrl: readonly string[];
  readonly aggregationRule: ReadonlyMap<string, string>;
}

/** The full name of the group that roles and bindings are of on this server. */
export async function accessGroup(work: Work): Promise<string> {
  const found = (await work.discovery.all()).find((r) => r.kind === 'ClusterRole' && r.group.startsWith('rbac.authorization.'));
  if (found === undefined) throw new Error('the server has no roles');
  return found.group;
}

export async function roleRules(options: RoleOptions, work: Work): Promise<JsonObject[]> {
  if (options.verb.length === 0) throw new FlagError('which verbs? For example: --verb=get,list,watch');
  if (options.resource.length === 0) throw new FlagError('which types? For example: --resource=pods,deployments.apps');
  return resourceRules(options, work);
}

export async function clusterRoleRules(options: ClusterRoleOptions, work: Work): Promise<JsonObject> {
  const { verb, resource, nonResourceUrl, resourceName, aggregationRule } = options;
  if (aggregationRule.size > 0) {
    if (verb.length + resource.length + nonResourceUrl.length + resourceName.length > 0) {
      throw new FlagError('--aggregation-rule excludes --verb, --resource, --resource-name and --non-resource-url');
    }
    const matchLabels = Object.fromEntries(aggregationRule);
    for (const [key, value] of aggregationRule) parseLabelSelector(`${key}=${value}`);
    return { aggregationRule: { clusterRoleSelectors: [{ matchLabels }] }, rules: [] };
  }
  if (nonResourceUrl.length === 0) return { rules: await roleRules(options, work) };
  if (verb.length === 0) throw new FlagError('which verbs? For example: --verb=get');
  const paths: JsonObject = { nonResourceURLs: [...nonResourceUrl], verbs: distinct(verb) };
  return { rules: [...(await resourceRules(options, work)), paths] };
}

/** One rule a group, in the order in which the groups were named. */
async function resourceRules({ verb, resource, resourceName }: RoleOptions, work: Work): Promise<JsonObject[]> {
  const byGroup = new Map<string, string[]>();
  for (const word of resource) {
    const { group, name } = await resourceOf(word, work);
    const names = byGroup.get(group) ?? [];
    if (!names.includes(name)) names.push(name);
    byGroup.set(group, names);
  }
  return [...byGroup].map(([group, resources]) => ({
    apiGroups: [group],
    resources,
    ...(resourceName.length > 0 && { resourceNames: [...resourceName] }),
    verbs: distinct(verb),
  }));
}
/** `pods`, `deploy`, `deployments.apps/scale`, `*`, `*.apps`. Types that the server does not have are refused: the rule would have no effect. */
async function resourceOf(word: string, work: Work): Promise<{ group: string; name: string }> {
  const slash = word.indexOf('/');
  const [type, below] = slash === -1 ? [word, ''] : [word.slice(0, slash), word.slice(slash)];
  if (type === '*') return { group: '*', name: `*${below}` };
  if (type.startsWith('*.')) return { group: type.slice(2), name: `*${below}` };
  const { group, name } = await work.discovery.find(type);
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

export function roleRef(role: string, clusterRole: string, apiGroup: string): JsonObject {
  if ((role === '') === (clusterRole === '')) throw new FlagError('which role? Name it with either --role or --clusterrole');
  return role === '' ? { apiGroup, kind: 'ClusterRole', name: clusterRole } : { apiGroup, kind: 'Role', name: role };
}
