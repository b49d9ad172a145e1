/** Roles and role bindings. */
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding } from '@plat-dev/kinds/rbac/schema/v1';
import type { Describer } from './describer.ts';
import { inOrder } from './order.ts';
import { bracketed, type ReadForm } from './values.ts';

export const describeRole: Describer<Role | ClusterRole> = {
  events: false,
  async write(page, { metadata, rules = [] }) {
    page.field('Name', metadata.name).labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
    page
      .heading('PolicyRule')
      .at(1)
      .table(
        ['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs'],
        compactRules(rules).map((rule) => [rule.resource, bracketed(rule.urls), bracketed(rule.names), bracketed(rule.verbs)]),
      );
  },
};

/** What a role allows on one resource, on one object of it, or on one path. */
interface ShownRule {
  /** `deployments.apps/scale` */
  readonly resource: string;
  readonly urls: readonly string[];
  readonly names: readonly string[];
  readonly verbs: string[];
  /** Rules are shown in the order of the texts that the stock client has for them. */
  order: string;
}

/** One rule for each resource (and name) with all verbs; one for each path and verb. */
export function compactRules(rules: readonly ReadForm<PolicyRule>[]): ShownRule[] {
  const byResource = new Map<string, ShownRule & { group: string; plainResource: string }>();
  const paths: ShownRule[] = [];
  for (const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [], verbs = [] } of rules) {
    const names: readonly (string | undefined)[] = resourceNames.length === 0 ? [undefined] : resourceNames;
    for (const group of apiGroups)
      for (const resource of resources)
        for (const verb of verbs)
          for (const name of names) {
            const key = JSON.stringify([group, resource, name]);
            const existingRule = byResource.get(key);
            if (existingRule === undefined) {
              const newRule = {
                resource: withGroup(resource, group),
                urls: [],
                names: name === undefined ? [] : [name],
                verbs: [verb],
                order: '',
              };
              byResource.set(key, { ...newRule, group, plainResource: resource });
            } else if (!existingRule.verbs.includes(verb)) existingRule.verbs.push(verb);
          }
    for (const url of nonResourceURLs)
      for (const verb of verbs)
        paths.push({ resource: '', urls: [url], names: [], verbs: [verb], order: orderText([verb], [], [], [], [url]) });
  }
  for (const rule of byResource.values()) rule.order = orderText(rule.verbs, [rule.group], [rule.plainResource], rule.names, []);
  return [...paths, ...byResource.values()].sort((a, b) => inOrder(a.order, b.order));
}
function withGroup(resource: string, group: string): string {
  const [name = '', ...below] = resource.split('/');
  return [group === '' ? name : `${name}.${group}`, ...(below.length === 0 ? [] : [below.join('/')])].join('/');
}
const orderText = (
  verbs: readonly string[],
  groups: readonly string[],
  resources: readonly string[],
  names: readonly string[],
  urls: readonly string[],
): string =>
  `&PolicyRule{Verbs:${bracketed(verbs)},APIGroups:${bracketed(groups)},Resources:${bracketed(resources)},ResourceNames:${bracketed(names)},NonResourceURLs:${bracketed(urls)},}`;

export const describeRoleBinding: Describer<RoleBinding | ClusterRoleBinding> = {
  events: false,
  async write(page, { metadata, roleRef, subjects = [] }) {
    page.field('Name', metadata.name).labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
    page.heading('Role').at(1).field('Kind', roleRef?.kind).field('Name', roleRef?.name);
    const rows = subjects.map(({ kind, name, namespace }) => [kind, name, namespace]);
    page.heading('Subjects').at(1).table(['Kind', 'Name', 'Namespace'], rows);
  },
};
