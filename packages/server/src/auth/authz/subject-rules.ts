/** The permissions of one subject in one scope, gathered from its bindings and indexed by resource or path. */
import type { PolicyRule, Subject } from '@plat-dev/kinds/rbac/schema/v1';
import type { Attributes, Decision } from '../types.ts';
import { pathMatches } from './policy-rules.ts';

/** A role as bindings see it: it may be created, changed and deleted while bindings name it. */
export interface RoleCell {
  rules: readonly PolicyRule[] | undefined;
  /** The name of the role in errors about a missing role. */
  readonly missing: string;
  /** The subjects whose rules must be rebuilt when the role changes, and the number of bindings of each. */
  readonly usedBy: Map<SubjectRules, number>;
}

/** A binding of a role. */
export interface Binding {
  /** Namespace and name. */
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  /** `RoleBinding "b/ns" of Role "r"`. */
  readonly text: string;
  /** The error if the role does not exist. */
  readonly missing: string;
  readonly cell: RoleCell;
}
/** A binding as one of its subjects sees it. A binding may have tens of thousands: texts are made on demand. */
export interface Grant {
  readonly binding: Binding;
  readonly subject: Subject;
}

interface Entry {
  /** Undefined: all. */
  readonly verbs: readonly string[] | undefined;
  readonly groups: readonly string[] | undefined;
  readonly names: ReadonlySet<string> | undefined;
  readonly decision: Decision;
}
interface PathEntry {
  readonly verbs: readonly string[] | undefined;
  readonly pattern: string;
  readonly decision: Decision;
}

const unlessStar = (list: readonly string[]): readonly string[] | undefined => (list.includes('*') ? undefined : list);

export class RuleIndex {
  readonly rules: PolicyRule[] = [];
  readonly errors: string[] = [];
  private readonly resources = new Map<string, Entry[]>();
  private readonly paths: PathEntry[] = [];

  constructor(grants: readonly Grant[]) {
    // A role that is bound twice to the same subject grants nothing more the second time.
    const visitedCells = new Set<RoleCell>();
    for (const { binding, subject } of grants) {
      const { cell } = binding;
      if (visitedCells.has(cell)) continue;
      visitedCells.add(cell);
      if (cell.rules === undefined) {
        this.errors.push(binding.missing);
        continue;
      }
      const reason = `RBAC: allowed by ${binding.text} to ${subjectText(subject, binding.namespace)}`;
      const decision: Decision = { decision: 'allow', reason };
      for (const rule of cell.rules) this.add(rule, decision);
    }
  }

  private add(rule: PolicyRule, decision: Decision): void {
    this.rules.push(rule);
    const verbs = unlessStar(rule.verbs ?? []);
    for (const pattern of rule.nonResourceURLs ?? []) this.paths.push({ verbs, pattern, decision });
    const names = rule.resourceNames === undefined || rule.resourceNames.length === 0 ? undefined : new Set(rule.resourceNames);
    const entry: Entry = { verbs, groups: unlessStar(rule.apiGroups ?? []), names, decision };
    for (const resource of new Set(rule.resources)) {
      const entries = this.resources.get(resource);
      if (entries === undefined) this.resources.set(resource, [entry]);
      else entries.push(entry);
    }
  }

  /** The decision that allows the request, if any does. */
  find(attributes: Attributes): Decision | undefined {
    if (!attributes.resourceRequest) return this.findPath(attributes.verb, attributes.path);
    const { resource, subresource } = attributes;
    const exact = this.resources.get(subresource === '' ? resource : `${resource}/${subresource}`);
    const exactDecision = exact && match(exact, attributes);
    if (exactDecision !== undefined) return exactDecision;
    const all = this.resources.get('*');
    const foundAll = all && match(all, attributes);
    if (foundAll !== undefined || subresource === '') return foundAll;
    const ofAll = this.resources.get(`*/${subresource}`);
    return ofAll && match(ofAll, attributes);
  }

  private findPath(verb: string, path: string): Decision | undefined {
    for (const entry of this.paths) {
      if ((entry.verbs === undefined || entry.verbs.includes(verb)) && pathMatches(entry.pattern, path)) return entry.decision;
    }
    return undefined;
  }
}

function match(entries: readonly Entry[], attributes: Attributes): Decision | undefined {
  for (const entry of entries) {
    if (entry.verbs !== undefined && !entry.verbs.includes(attributes.verb)) continue;
    if (entry.groups !== undefined && !entry.groups.includes(attributes.group)) continue;
    if (entry.names !== undefined && !entry.names.has(attributes.name)) continue;
    return entry.decision;
  }
  return undefined;
}

/** Service accounts are users by their full name; only this text distinguishes them. */
function subjectText({ kind, name, namespace = '' }: Subject, bindingNamespace: string): string {
  return kind === 'ServiceAccount' ? `ServiceAccount "${name}/${namespace === '' ? bindingNamespace : namespace}"` : `${kind} "${name}"`;
}

/** The bindings of one subject, and their index while nothing changes. */
export class SubjectRules {
  /** The only grant: most subjects have one, and need no map. */
  private only: Grant | undefined;
  /** By key of the binding, once there is more than one grant. */
  private grants: Map<string, Grant[]> | undefined;
  private built: RuleIndex | undefined;

  get empty(): boolean {
    return this.grants === undefined ? this.only === undefined : this.grants.size === 0;
  }
  add(grant: Grant): void {
    this.built = undefined;
    if (this.grants === undefined && this.only === undefined) {
      this.only = grant;
      return;
    }
    this.grants ??= new Map();
    if (this.only !== undefined) this.grants.set(this.only.binding.key, [this.only]);
    this.only = undefined;
    const grants = this.grants.get(grant.binding.key);
    if (grants === undefined) this.grants.set(grant.binding.key, [grant]);
    else grants.push(grant);
  }
  /** Removes every grant of a binding. */
  remove(binding: string): void {
    this.built = undefined;
    if (this.only?.binding.key === binding) this.only = undefined;
    this.grants?.delete(binding);
  }
  forget(): void {
    this.built = undefined;
  }
  /** Bindings are ordered by name, so that the reason does not depend on history. */
  index(): RuleIndex {
    this.built ??= new RuleIndex(this.only === undefined ? inOrder(this.grants) : [this.only]);
    return this.built;
  }
}
function inOrder(grants: Map<string, Grant[]> | undefined): Grant[] {
  const nameOf = ({ binding }: Grant): string => binding.name;
  return [...(grants?.values() ?? [])].flat().sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0));
}
