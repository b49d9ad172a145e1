import { readFeatureGates } from '@plat-dev/kinds/feature-gates';
import { recordedText } from '@plat-dev/lib/testing/recordings.testing';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { type BootstrapPolicy, bootstrapPolicy } from './objects.ts';

const facts = recordedText('release-facts', 'bootstrap-rbac.md');

const policyOf = (release: string): BootstrapPolicy => {
  const features = readFeatureGates(new Map(), { release });
  return bootstrapPolicy(kubernetes, { release, feature: (gate) => features.isOn(gate), explains: false });
};

/** What a role allows, one text for each verb of each resource. */
function permissionsOf(policy: BootstrapPolicy): Set<string> {
  const permissions = new Set<string>();
  for (const role of [...policy.clusterRoles, ...policy.roles]) {
    if ('aggregationRule' in role) continue;
    const { name, namespace } = role.metadata;
    const owner = namespace === undefined ? `ClusterRole ${name}` : `Role ${namespace}/${name}`;
    for (const { verbs = [], apiGroups = [], resources = [], resourceNames = [''], nonResourceURLs = [] } of role.rules ?? [])
      for (const verb of verbs) {
        for (const path of nonResourceURLs) permissions.add(`${owner}: ${path} ${verb}`);
        for (const group of apiGroups)
          for (const resource of resources)
            for (const one of resourceNames) permissions.add(`${owner}: ${group}/${resource}[${one}] ${verb}`);
      }
  }
  return permissions;
}

/** Subjects of bindings, one text for each. */
function holdersOf(policy: BootstrapPolicy): Set<string> {
  const holders = new Set<string>();
  for (const { metadata, subjects = [], roleRef } of [...policy.clusterRoleBindings, ...policy.roleBindings])
    for (const { kind, namespace, name } of subjects)
      holders.add(
        `${metadata.namespace ?? ''}/${metadata.name} → ${roleRef.name} ${kind}:${namespace === undefined ? '' : `${namespace}/`}${name}`,
      );
  return holders;
}

/** `core/{pods,nodes}[x] get,list; /healthz get` of a role, as `permissionsOf` writes it. */
function readPermissions(owner: string, text: string): string[] {
  return text
    .split(';')
    .map((part) => part.trim())
    .flatMap((part) => {
      const [what = '', verbs = ''] = part.split(' ');
      const [, group, resources = '', name = ''] = /^([^/{]+)\/\{(.*)\}(?:\[(.*)\])?$/.exec(what) ?? [];
      if (group === undefined) return what.split(',').flatMap((path) => verbs.split(',').map((verb) => `${owner}: ${path} ${verb}`));
      const fullGroup = group === 'core' ? '' : group;
      return resources
        .split(',')
        .flatMap((resource) => verbs.split(',').map((verb) => `${owner}: ${fullGroup}/${resource}[${name}] ${verb}`));
    });
}

interface Changes {
  readonly added: string[];
  readonly removed: string[];
  readonly holders: string[];
}
function factsOf(release: string): Changes {
  const section = facts.split(/^## /m).find((part) => part.startsWith(`${release}\n`)) ?? '';
  const changes: Changes = { added: [], removed: [], holders: [] };
  for (const line of section.split('\n').filter((one) => one.startsWith('- '))) {
    const created = /^- new ((?:Cluster)?Role) (\S+): (.*)$/.exec(line);
    const bound = /^- new ClusterRoleBinding (\S+) -> (\S+) (.*)$/.exec(line);
    const changed = /^- ((?:Cluster)?Role) (\S+): (.*)$/.exec(line);
    if (created) changes.added.push(...readPermissions(`${created[1]} ${created[2]}`, created[3] ?? ''));
    else if (bound) changes.holders.push(`/${bound[1]} → ${bound[2]} ${bound[3]}`);
    else if (changed) {
      const owner = `${changed[1]} ${changed[2]}`;
      for (const [, sign, text = ''] of (changed[3] ?? '').matchAll(/(?:^| )([+-]) (.*?)(?= [+-] |$)/g))
        (sign === '+' ? changes.added : changes.removed).push(...readPermissions(owner, text));
    }
  }
  return changes;
}

const missingIn = (set: ReadonlySet<string>, other: ReadonlySet<string>): string[] => [...other].filter((one) => !set.has(one)).sort();

test.each([
  ['1.24', '1.25'],
  ['1.25', '1.26'],
  ['1.26', '1.27'],
  ['1.27', '1.28'],
  ['1.28', '1.29'],
  ['1.29', '1.30'],
  ['1.30', '1.31'],
  ['1.31', '1.32'],
  ['1.32', '1.33'],
  ['1.33', '1.34'],
  ['1.34', '1.35'],
  ['1.35', '1.36'],
])('roles of %s become those of %s as with stock servers', (earlier, later) => {
  const [before, after] = [permissionsOf(policyOf(earlier)), permissionsOf(policyOf(later))];
  const { added, removed, holders } = factsOf(later);
  expect(added.length + removed.length).toBeGreaterThan(0);
  expect(missingIn(before, after), 'added').toEqual(added.sort());
  expect(missingIn(after, before), 'removed').toEqual(removed.sort());
  const newHolders = missingIn(holdersOf(policyOf(earlier)), holdersOf(policyOf(later)));
  // The facts write the one binding whose subjects changed as a whole.
  expect(newHolders.filter((text) => !text.includes('leader-election-controller'))).toEqual(holders.sort());
});

test('the controller that elects leaders holds the role of the lock since 1.31', () => {
  const holds = (release: string): boolean =>
    [...holdersOf(policyOf(release))].some((text) => text.endsWith('ServiceAccount:kube-system/leader-election-controller'));
  expect(['1.30', '1.31', '1.36'].map(holds)).toEqual([false, true, true]);
});

test('roles of features that are off are not there', () => {
  const names = (on: boolean) =>
    bootstrapPolicy(kubernetes, { release: '1.36', feature: () => on, explains: false }).clusterRoles.map(({ metadata }) => metadata.name);
  expect(names(true)).toContain('system:controller:resource-claim-controller');
  expect(names(false)).not.toContain('system:controller:resource-claim-controller');
});
