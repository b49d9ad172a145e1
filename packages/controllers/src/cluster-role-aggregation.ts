/** Aggregated ClusterRoles: their rules are those of all roles that their selectors match, each rule once. */

import { splitKey } from '@plat-dev/client/informer';
import type { ClusterRole, PolicyRule } from '@plat-dev/kinds/rbac/schema/v1';
import { equal } from '@plat-dev/lib/equal';
import { apiVersionOf } from '@plat-dev/meta/api-version';
import { fromLabelSelector } from '@plat-dev/meta/labels';
import { builtin, type Controller } from './runtime/controller.ts';

/** The rules that a role should have, selector by selector, roles by name. */
export function aggregate(role: ClusterRole, all: Iterable<ClusterRole>): PolicyRule[] {
  const others = [...all].filter((other) => other.metadata.name !== role.metadata.name).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const ruleTexts = new Set<string>();
  const rules: PolicyRule[] = [];
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const labels = fromLabelSelector(selector);
    for (const other of others) {
      if (!labels.matches(other.metadata.labels)) continue;
      for (const rule of other.rules ?? []) {
        const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule;
        const text = JSON.stringify([verbs, apiGroups, resources, resourceNames, nonResourceURLs]);
        if (!ruleTexts.has(text)) rules.push(rule);
        ruleTexts.add(text);
      }
    }
  }
  return rules;
}
const nameOf = (role: ClusterRole): string => role.metadata.name ?? '';

const ACCOUNT = 'clusterrole-aggregation-controller';

export const clusterRoleAggregation: Controller = {
  name: 'clusterrole-aggregation',
  account: ACCOUNT,
  start({ informers, queue, client, identity }) {
    const ref = builtin(identity, 'rbac.authorization', 'v1', 'clusterroles', false);
    const roles = informers.of<ClusterRole>(ref);
    const work = queue(
      async (key) => {
        const role = roles.get('', splitKey(key).name);
        if (role?.aggregationRule === undefined || role.metadata.deletionTimestamp !== undefined) return;
        const rules = aggregate(role, roles.list());
        if (equal(role.rules ?? [], rules)) return;
        const aggregated = { kind: 'ClusterRole', apiVersion: apiVersionOf(ref), metadata: { name: nameOf(role) }, rules };
        await client.apply(ref, aggregated as ClusterRole, ACCOUNT);
      },
      { after: [roles.synced], workers: 1 },
    );
    // Any role may contribute to any other.
    roles.onChange(({ type, object, old }) => {
      if (type === 'modified' && old !== undefined && sameParts(object, old)) return;
      for (const role of roles.list()) if (role.aggregationRule !== undefined) work.add(`/${nameOf(role)}`);
    });
  },
};

const sameParts = (a: ClusterRole, b: ClusterRole): boolean =>
  JSON.stringify([a.rules, a.metadata.labels, a.aggregationRule]) === JSON.stringify([b.rules, b.metadata.labels, b.aggregationRule]);
