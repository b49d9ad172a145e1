/**
 * Rules of roles and webhooks that name only groups and versions which a release does not have. They match nothing there: a webhook is
 * no longer called, and a role no longer permits.
 */
import { servedByDefault } from '@plat-dev/kinds/releases';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { isAtLeast } from '@plat-dev/lib/version';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { domainName, groupName } from '@plat-dev/meta/identity';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { isObject } from '../convert/carry-changes.ts';
import { type Catalogue, lifetime } from '../convert/catalogue.ts';
import { type Finding, fateOf } from './findings.ts';

/** Group and kind of objects with rules, all of them in v1. */
export const ruleKinds: readonly (readonly [string, string])[] = [
  ['rbac.authorization', 'ClusterRole'],
  ['rbac.authorization', 'Role'],
  ['admissionregistration', 'MutatingWebhookConfiguration'],
  ['admissionregistration', 'ValidatingWebhookConfiguration'],
];

/** Rules that belong together: a kind that one of them matches in a version that the release has is no finding. */
interface RuleSet {
  readonly type: 'role' | 'webhook';
  readonly where: string;
  readonly rules: readonly Rule[];
}
interface Rule {
  readonly groups: readonly string[];
  readonly versions: readonly string[];
  readonly resources: readonly string[];
}

/** What the rules of an object name; empty for an object of any other kind. */
export function ruleFindings(object: JsonObject, catalogue: Catalogue, release: string): Finding[] {
  const findings: Finding[] = [];
  for (const { type, where, rules } of ruleSetsOf(object, catalogue)) {
    const matched = new Map<string, ServedKind[]>();
    for (const served of catalogue.every()) {
      if (!rules.some((rule) => matches(rule, served))) continue;
      const key = `${served.hub.apiVersion} ${served.kind.kind}`;
      matched.set(key, [...(matched.get(key) ?? []), served]);
    }
    for (const versions of matched.values()) {
      if (versions.some((one) => servedByDefault(lifetime(one), release))) continue;
      // A star stands for what there is: kinds that come later are none of its business.
      if (!versions.some((one) => wasThere(one, release)) && !versions.some((one) => isNamed(rules, one))) continue;
      const first = versions[0] as ServedKind;
      const fate = fateOf(first, catalogue, release);
      if (fate === undefined) continue;
      const { kind, apiVersion } = first;
      findings.push({
        ...fate,
        type,
        apiVersion,
        kind: kind.kind,
        where,
        notes: [`no rule matches ${kind.kind} in ${release}`, ...fate.notes],
      });
    }
  }
  return findings;
}

/** Whether an earlier release had the version. */
const wasThere = (served: ServedKind, release: string): boolean => {
  const { removed } = lifetime(served) ?? {};
  return removed !== undefined && isAtLeast(release, removed);
};
/** Whether a rule names the resource itself. */
const isNamed = (rules: readonly Rule[], served: ServedKind): boolean =>
  rules.some((rule) => matches({ ...rule, resources: rule.resources.filter((one) => !one.startsWith('*')) }, served));

function ruleSetsOf(object: JsonObject, { identity }: Catalogue): RuleSet[] {
  const { group } = splitApiVersion(textOf(object.apiVersion));
  const kind = textOf(object.kind);
  if (!ruleKinds.some(([base, name]) => name === kind && groupName(identity, base) === group)) return [];
  const { name, namespace, annotations } = isObject(object.metadata) ? object.metadata : {};
  // The server keeps its own roles up to date.
  const isOwn = isObject(annotations) && annotations[domainName(identity, 'autoupdate', 'rbac.authorization')] === 'true';
  const where = `${kind} ${typeof namespace === 'string' ? `${namespace}/` : ''}${textOf(name)}`;
  if (!kind.endsWith('WebhookConfiguration'))
    return isOwn ? [] : [{ type: 'role', where, rules: objectsIn(object.rules).map((rule) => ruleOf(rule, ['*'])) }];
  return objectsIn(object.webhooks).map((webhook) => ({
    type: 'webhook',
    where: `${where}, webhook ${textOf(webhook.name)}`,
    rules: objectsIn(webhook.rules).map((rule) => ruleOf(rule, textsIn(rule.apiVersions))),
  }));
}
const ruleOf = ({ apiGroups, resources }: JsonObject, versions: readonly string[]): Rule => ({
  groups: textsIn(apiGroups),
  versions,
  resources: textsIn(resources),
});

function matches({ groups, versions, resources }: Rule, { group, version, kind: { plural } }: ServedKind): boolean {
  return (
    (groups.includes('*') || groups.includes(group)) &&
    (versions.includes('*') || versions.includes(version)) &&
    resources.some((one) => one === '*' || one === '*/*' || one === plural || one.startsWith(`${plural}/`))
  );
}

/** Manifests are not validated. */
const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
const textsIn = (value: JsonValue | undefined): string[] => (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []);
const objectsIn = (value: JsonValue | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);
