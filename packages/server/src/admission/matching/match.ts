/**
 * Matches requests with webhooks, policies and bindings of policies. The part that depends on kind, subresource and operation is
 * computed once and kept, so that a request that no rule matches costs one look-up; names and selectors are evaluated for each request.
 *
 *   const matcher = new Matcher(webhooks);
 *   for (const candidate of matcher.candidates(served, '', 'CREATE', equivalents))
 *     matchOf(candidate, request, labelsOf)   → the version in which the target takes the object; undefined: it does not match
 */

import type { RuleWithOperations } from '@plat-dev/kinds/admissionregistration/schema/v1';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import type { LabelSelector, Labels } from '@plat-dev/meta/labels';
import type { AdmissionOperation, AdmissionRequest } from '../types.ts';

export type RuleObject = RuleWithOperations & { readonly resourceNames?: readonly string[] };

/** What requests something is for. */
export interface Criteria {
  /** Undefined: every resource. */
  readonly rules: readonly RuleObject[] | undefined;
  readonly excludedRules?: readonly RuleObject[];
  readonly namespaceSelector: LabelSelector;
  readonly objectSelector: LabelSelector;
  /** Requests in another version of the same objects match, too. */
  readonly equivalent: boolean;
}

/** A version in which a rule matches; `names`: for objects of these names only. */
interface Place {
  readonly served: ServedKind;
  readonly names: readonly string[] | undefined;
}

/** A target that may match. */
export interface Candidate<T extends Criteria> {
  readonly target: T;
  readonly places: readonly Place[];
  readonly excluded: readonly Place[];
}

export type Equivalents = (served: ServedKind) => readonly ServedKind[];

export class Matcher<T extends Criteria> {
  readonly targets: readonly T[];
  private readonly isExempt: (served: ServedKind) => boolean;
  private readonly candidatesOf = new WeakMap<ServedKind, Map<string, readonly Candidate<T>[]>>();

  constructor(targets: readonly T[], isExempt: (served: ServedKind) => boolean = isAdmissionObject) {
    this.targets = targets;
    this.isExempt = isExempt;
  }

  candidates(served: ServedKind, subresource: string, operation: AdmissionOperation, equivalents: Equivalents): readonly Candidate<T>[] {
    if (this.targets.length === 0) return none;
    let table = this.candidatesOf.get(served);
    if (table === undefined) {
      table = new Map();
      this.candidatesOf.set(served, table);
    }
    const key = subresource === '' ? operation : `${operation}/${subresource}`;
    let cachedCandidates = table.get(key);
    if (cachedCandidates === undefined) {
      cachedCandidates = this.find(served, subresource, operation, equivalents);
      table.set(key, cachedCandidates);
    }
    return cachedCandidates;
  }

  private find(served: ServedKind, subresource: string, operation: AdmissionOperation, equivalents: Equivalents): Candidate<T>[] {
    if (this.isExempt(served)) return [];
    const others = equivalents(served).filter((one) => one !== served);
    return this.targets.flatMap((target): Candidate<T>[] => {
      const placesOf = (rules: readonly RuleObject[]): readonly Place[] =>
        placesIn(rules, served, target.equivalent ? others : [], (rule, as) => ruleMatches(rule, as, subresource, operation));
      const places = target.rules === undefined ? [{ served, names: undefined }] : placesOf(target.rules);
      if (places.length === 0) return [];
      const excluded = placesOf(target.excludedRules ?? []);
      return excluded.some(({ names }) => names === undefined) ? [] : [{ target, places, excluded }];
    });
  }
}
const none: readonly never[] = [];

/** The version of the request comes first; of others, the first that a rule names. */
function placesIn(
  rules: readonly RuleObject[],
  served: ServedKind,
  others: readonly ServedKind[],
  matches: (rule: RuleObject, as: ServedKind) => boolean,
): readonly Place[] {
  const places: Place[] = [];
  const add = ({ resourceNames = [] }: RuleObject, as: ServedKind): void => {
    places.push({ served: as, names: resourceNames.length === 0 ? undefined : resourceNames });
  };
  for (const rule of rules) if (matches(rule, served)) add(rule, served);
  for (const rule of rules) for (const other of others) if (matches(rule, other)) add(rule, other);
  return places;
}

/** A webhook or a policy that could deny changes of these could lock everybody out. */
const isAdmissionObject = ({ kind, custom }: ServedKind): boolean => !custom && kind.group === 'admissionregistration';

const has = (list: readonly string[] | undefined, value: string): boolean => list?.includes('*') || list?.includes(value) || false;

function ruleMatches(rule: RuleObject, served: ServedKind, subresource: string, operation: AdmissionOperation): boolean {
  if (!has(rule.operations, operation) || !has(rule.apiGroups, served.group) || !has(rule.apiVersions, served.version)) return false;
  if (rule.scope === 'Namespaced' && !served.kind.namespaced) return false;
  if (rule.scope === 'Cluster' && served.kind.namespaced) return false;
  return (rule.resources ?? []).some((name) => {
    const slash = name.indexOf('/');
    const resource = slash < 0 ? name : name.slice(0, slash);
    const part = slash < 0 ? '' : name.slice(slash + 1);
    return (resource === '*' || resource === served.kind.plural) && (part === '*' || part === subresource);
  });
}

/**
 * The version in which the target takes the object; undefined: it does not match; `missing`: the selector needs a namespace that does
 * not exist.
 */
export function matchOf<T extends Criteria>(
  { target, places, excluded }: Candidate<T>,
  request: AdmissionRequest,
  labelsOf: NamespaceLabels,
): ServedKind | 'missing' | undefined {
  const inNamespace = namespaceSelected(target, request, labelsOf);
  if (inNamespace === false || !objectSelected(target, request)) return undefined;
  const isNamed = ({ names }: Place): boolean => names === undefined || names.includes(request.name);
  const place = excluded.some(isNamed) ? undefined : places.find(isNamed);
  return place === undefined ? undefined : inNamespace === 'missing' ? inNamespace : place.served;
}

// ---- selectors ---------------------------------------------------------------------------------------------------

const isNamespace = ({ kind }: ServedKind): boolean => kind.group === '' && kind.plural === 'namespaces';

/** Labels of the namespace of a request; undefined if it does not exist. */
export type NamespaceLabels = (namespace: string) => Labels | 'missing';

/** Returns `missing` if the selector needs a namespace that does not exist. */
export function namespaceSelected(
  { namespaceSelector }: Criteria,
  request: AdmissionRequest,
  labelsOf: NamespaceLabels,
): boolean | 'missing' {
  const { served, subresource, operation, object } = request;
  if (namespaceSelector.everything) return true;
  if (!isNamespace(served)) {
    if (request.namespace === '') return true;
    const labels = labelsOf(request.namespace);
    return labels === 'missing' ? labels : namespaceSelector.matches(labels);
  }
  // A namespace that is being written has its new labels.
  if (subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) return namespaceSelector.matches(object?.metadata.labels);
  const labels = labelsOf(request.name);
  return labels === 'missing' ? labels : namespaceSelector.matches(labels);
}

/** A match of the old or of the new object counts. Objects without labels, such as the options of a connection, never match. */
export function objectSelected({ objectSelector }: Criteria, { object, oldObject }: AdmissionRequest): boolean {
  if (objectSelector.everything) return true;
  return [object, oldObject].some((one) => one?.metadata !== undefined && objectSelector.matches(one.metadata.labels));
}
