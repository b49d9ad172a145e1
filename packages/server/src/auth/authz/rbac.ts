/**
 * RBAC. Bindings are indexed by subject: a decision looks up the user and the user's groups in the
 * cluster and in the namespace, and there the resource. The index of a subject is dropped when one of its
 * bindings or roles changes, and built again on the next lookup; so thousands of bindings cost nothing.
 */

import type { Change, LiveSource } from '@plat-dev/kinds/live-view';
import type { PolicyRule, Subject } from '@plat-dev/kinds/rbac/schema/v1';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { serviceAccountName } from '../authn/users.ts';
import {
  type Attributes,
  type Authorizer,
  type Decision,
  type NonResourceRule,
  noOpinion,
  type ResourceRule,
  type RuleSet,
  type User,
} from '../types.ts';
import { type BindingObject, type RoleObject, rbacGroup } from './policy-rules.ts';
import { type Binding, type RoleCell, type RuleIndex, SubjectRules } from './subject-rules.ts';

class Scope {
  readonly users = new Map<string, SubjectRules>();
  readonly groups = new Map<string, SubjectRules>();
}

/** A binding with its valid subjects, each once. */
interface PlacedBinding {
  readonly cell: RoleCell;
  readonly users: Map<string, SubjectRules>;
  readonly groups: Map<string, SubjectRules>;
}

export class RoleBasedAccess implements Authorizer {
  readonly name = 'RBAC';
  private readonly rbac: string;
  private readonly cluster = new Scope();
  private readonly namespaces = new Map<string, Scope>();
  private readonly roles = new Map<string, RoleCell>();
  private readonly placedBindings = new Map<string, PlacedBinding>();
  /** Changes of roles and bindings so far. */
  private changed = 0;
  private readonly countChanges = (): number => this.changed;

  constructor(live: LiveSource, identity: Identity) {
    this.rbac = groupName(identity, rbacGroup);
    const clusterRoles = live<RoleObject>(rbacGroup, 'clusterroles');
    const roles = live<RoleObject>(rbacGroup, 'roles');
    const clusterBindings = live<BindingObject>(rbacGroup, 'clusterrolebindings');
    const bindings = live<BindingObject>(rbacGroup, 'rolebindings');
    clusterRoles.onChange((change) => this.setRole(change.object, change.type));
    roles.onChange((change) => this.setRole(change.object, change.type));
    clusterBindings.onChange((change) => this.setBinding(change));
    bindings.onChange((change) => this.setBinding(change));
    for (const role of [...clusterRoles.list(), ...roles.list()]) this.setRole(role, 'added');
    for (const object of [...clusterBindings.list(), ...bindings.list()]) this.setBinding({ type: 'added', object });
  }

  authorize(attributes: Attributes): Decision {
    const clusterDecision = search(this.cluster, attributes);
    if (clusterDecision !== undefined) return clusterDecision;
    const scope = attributes.namespace === '' || !attributes.resourceRequest ? undefined : this.namespaces.get(attributes.namespace);
    const local = scope && search(scope, attributes);
    if (local !== undefined) return local;
    const errors = this.indexes(attributes.user, scope).flatMap((index) => index.errors);
    return errors.length === 0 ? noOpinion : { decision: 'none', reason: `RBAC: ${aggregate(errors)}` };
  }

  changes(): () => number {
    return this.countChanges;
  }

  /** Every rule that applies to the user in the namespace, those of the cluster first. */
  policyRules(user: User, namespace: string): { rules: readonly PolicyRule[]; errors: readonly string[] } {
    const indexes = this.indexes(user, this.namespaces.get(namespace));
    return {
      rules: indexes.flatMap((index) => index.rules),
      errors: [...new Set(indexes.flatMap((index) => index.errors))],
    };
  }

  private indexes(user: User, local: Scope | undefined): RuleIndex[] {
    const ruleIndexes: RuleIndex[] = [];
    for (const scope of local === undefined ? [this.cluster] : [this.cluster, local]) {
      for (const rules of [scope.users.get(user.name), ...user.groups.map((group) => scope.groups.get(group))]) {
        if (rules !== undefined) ruleIndexes.push(rules.index());
      }
    }
    return ruleIndexes;
  }

  /** The rules of a role; undefined if it does not exist. */
  rulesOfRole(kind: string, namespace: string, name: string): readonly PolicyRule[] | undefined {
    return this.roles.get(roleKey(kind, namespace, name))?.rules;
  }

  async rulesFor(user: User, namespace: string): Promise<RuleSet> {
    const { rules, errors } = this.policyRules(user, namespace);
    const resourceRules: ResourceRule[] = [];
    const nonResourceRules: NonResourceRule[] = [];
    for (const { verbs = [], apiGroups, resources, resourceNames, nonResourceURLs } of rules) {
      if (resources !== undefined && resources.length > 0) {
        const names = resourceNames === undefined || resourceNames.length === 0 ? {} : { resourceNames };
        resourceRules.push({ verbs, apiGroups: apiGroups ?? [], resources, ...names });
      }
      if (nonResourceURLs !== undefined && nonResourceURLs.length > 0) nonResourceRules.push({ verbs, nonResourceURLs });
    }
    const error = errors.length === 0 ? {} : { error: aggregate(errors) };
    return { resourceRules, nonResourceRules, incomplete: false, ...error };
  }

  private setRole(role: RoleObject, type: Change<RoleObject>['type']): void {
    this.changed++;
    const namespace = role.metadata.namespace ?? '';
    const cell = this.roleCell(namespace === '' ? 'ClusterRole' : 'Role', namespace, role.metadata.name ?? '');
    cell.rules = type === 'deleted' ? undefined : (role.rules ?? []);
    for (const rules of cell.usedBy.keys()) rules.forget();
    if (type === 'deleted' && cell.usedBy.size === 0) this.roles.delete(cell.missing);
  }

  private roleCell(kind: string, namespace: string, name: string): RoleCell {
    const key = roleKey(kind, namespace, name);
    let cell = this.roles.get(key);
    if (cell === undefined) {
      cell = { rules: undefined, missing: key, usedBy: new Map() };
      this.roles.set(key, cell);
    }
    return cell;
  }

  private setBinding(change: Pick<Change<BindingObject>, 'type' | 'object'>): void {
    this.changed++;
    const { metadata, roleRef, subjects } = change.object;
    const namespace = metadata.namespace ?? '';
    const key = `${namespace}/${metadata.name}`;
    this.removeBinding(key, namespace);
    if (change.type === 'deleted') return;
    const cell = this.roleCell(roleRef.kind, roleRef.kind === 'Role' ? namespace : '', roleRef.name);
    const scope = this.scopeOf(namespace);
    const binding: Binding = {
      key,
      name: metadata.name ?? '',
      namespace,
      text:
        namespace === ''
          ? `ClusterRoleBinding "${metadata.name}" of ${roleRef.kind} "${roleRef.name}"`
          : `RoleBinding "${metadata.name}/${namespace}" of ${roleRef.kind} "${roleRef.name}"`,
      missing: missingText(this.rbac, roleRef.kind, roleRef.name),
      cell,
    };
    const newPlace: PlacedBinding = { cell, users: new Map(), groups: new Map() };
    for (const subject of subjects ?? []) {
      const name = placeOf(subject, namespace);
      if (name === undefined) continue;
      const group = subject.kind === 'Group';
      const all = group ? scope.groups : scope.users;
      let rules = all.get(name);
      if (rules === undefined) {
        rules = new SubjectRules();
        all.set(name, rules);
      }
      rules.add({ binding, subject });
      const own = group ? newPlace.groups : newPlace.users;
      if (own.has(name)) continue;
      own.set(name, rules);
      cell.usedBy.set(rules, (cell.usedBy.get(rules) ?? 0) + 1);
    }
    this.placedBindings.set(key, newPlace);
  }

  private removeBinding(key: string, namespace: string): void {
    const placedBinding = this.placedBindings.get(key);
    if (placedBinding === undefined) return;
    const scope = this.scopeOf(namespace);
    remove(placedBinding.users, scope.users, key, placedBinding.cell);
    remove(placedBinding.groups, scope.groups, key, placedBinding.cell);
    this.placedBindings.delete(key);
    if (placedBinding.cell.rules === undefined && placedBinding.cell.usedBy.size === 0) this.roles.delete(placedBinding.cell.missing);
    if (namespace !== '' && scope.users.size === 0 && scope.groups.size === 0) this.namespaces.delete(namespace);
  }

  private scopeOf(namespace: string): Scope {
    if (namespace === '') return this.cluster;
    let scope = this.namespaces.get(namespace);
    if (scope === undefined) {
      scope = new Scope();
      this.namespaces.set(namespace, scope);
    }
    return scope;
  }
}

function search(scope: Scope, attributes: Attributes): Decision | undefined {
  const own = scope.users.get(attributes.user.name)?.index().find(attributes);
  if (own !== undefined) return own;
  for (const group of attributes.user.groups) {
    const shared = scope.groups.get(group)?.index().find(attributes);
    if (shared !== undefined) return shared;
  }
  return undefined;
}

const roleKey = (kind: string, namespace: string, name: string): string => `${kind}/${kind === 'Role' ? namespace : ''}/${name}`;

const missingText = (group: string, kind: string, name: string): string =>
  kind === 'Role' || kind === 'ClusterRole'
    ? `${kind.toLowerCase()}.${group} "${name}" not found`
    : `unsupported role reference kind: "${kind}"`;

/** One error as it is, several in brackets, each once. */
function aggregate(errors: readonly string[]): string {
  const each = [...new Set(errors)];
  return each.length === 1 ? (each[0] as string) : `[${each.join(', ')}]`;
}

function remove(placedRules: Map<string, SubjectRules>, all: Map<string, SubjectRules>, binding: string, { usedBy }: RoleCell): void {
  for (const [subject, rules] of placedRules) {
    rules.remove(binding);
    if (rules.empty) all.delete(subject);
    const uses = (usedBy.get(rules) ?? 1) - 1;
    if (uses > 0) usedBy.set(rules, uses);
    else usedBy.delete(rules);
  }
}

/** The name of a subject among users or groups: service accounts are users by their full name. */
function placeOf({ kind, name, namespace = '' }: Subject, bindingNamespace: string): string | undefined {
  if (kind === 'User' || kind === 'Group') return name;
  const own = namespace === '' ? bindingNamespace : namespace;
  return kind !== 'ServiceAccount' || own === '' ? undefined : serviceAccountName(own, name);
}
