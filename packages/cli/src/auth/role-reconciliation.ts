/** What a reconciliation makes of a role or a binding: missing permissions and subjects are added, others removed only if asked. */

import { compact, missingFrom } from '@plat-dev/kinds/rbac/covers';
import type { PolicyRule, Subject } from '@plat-dev/kinds/rbac/schema/v1';
import { equal } from '@plat-dev/lib/equal';
import { jsonText } from '@plat-dev/lib/json-text';

interface Metadata {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}
export interface RoleObject {
  readonly metadata: Metadata;
  readonly rules?: readonly PolicyRule[];
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly object[] };
}
export interface BindingObject {
  readonly metadata: Metadata;
  readonly subjects?: readonly Subject[];
  readonly roleRef: { readonly apiGroup?: string; readonly kind: string; readonly name: string };
}

/** `recreate`: the role of a binding cannot be changed in place. */
type Action = 'none' | 'create' | 'update' | 'recreate';
export interface Reconciled<T> {
  readonly action: Action;
  readonly object: T;
  /** What was added and what was too much, as lines of a report. */
  readonly report: readonly { readonly title: string; readonly lines: readonly string[] }[];
}

/** Missing labels and annotations are added; existing values stay. */
function merged<T extends { readonly metadata: Metadata }>(existing: T, manifest: T): T['metadata'] {
  const labels = { ...manifest.metadata.labels, ...existing.metadata.labels };
  const annotations = { ...manifest.metadata.annotations, ...existing.metadata.annotations };
  return {
    ...existing.metadata,
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
}
const section = (title: string, items: readonly object[]): Reconciled<never>['report'] =>
  items.length === 0 ? [] : [{ title, lines: items.map((item) => jsonText(item)) }];

export function reconciledRole(existing: RoleObject | undefined, manifest: RoleObject, removeExtra: boolean): Reconciled<RoleObject> {
  if (existing === undefined) {
    return { action: 'create', object: manifest, report: section('missing rules added', manifest.rules ?? []) };
  }
  let object: RoleObject = { ...existing, metadata: merged(existing, manifest) };
  // The rules of an aggregated role are set by its controller.
  const isAggregated = existing.aggregationRule !== undefined;
  const missing = isAggregated ? [] : missingFrom(existing.rules ?? [], manifest.rules ?? []);
  const extra = isAggregated ? [] : missingFrom(manifest.rules ?? [], existing.rules ?? []);
  if (removeExtra && missing.length + extra.length > 0) object = { ...object, rules: manifest.rules ?? [] };
  else if (missing.length > 0) object = { ...object, rules: [...(existing.rules ?? []), ...compact(missing)] };
  const have = existing.aggregationRule?.clusterRoleSelectors ?? [];
  const need = manifest.aggregationRule?.clusterRoleSelectors ?? [];
  const lacking = (all: readonly object[], some: readonly object[]): object[] =>
    some.filter((one) => !all.some((other) => equal(one, other)));
  if (removeExtra && lacking(have, need).length + lacking(need, have).length > 0) object = withSelectors(object, manifest.aggregationRule);
  else if (lacking(have, need).length > 0) object = withSelectors(object, { clusterRoleSelectors: [...have, ...lacking(have, need)] });
  const report = [
    ...section('missing rules added', compact(missing)),
    ...(removeExtra ? section('extra rules removed', compact(extra)) : []),
  ];
  return { action: equal(existing, object) ? 'none' : 'update', object, report };
}
function withSelectors(role: RoleObject, aggregationRule: RoleObject['aggregationRule']): RoleObject {
  const { aggregationRule: _, ...rest } = role;
  return aggregationRule === undefined ? rest : { ...rest, aggregationRule };
}

const isSame = (a: Subject, b: Subject): boolean =>
  a.kind === b.kind && a.name === b.name && (a.namespace ?? '') === (b.namespace ?? '') && (a.apiGroup ?? '') === (b.apiGroup ?? '');
const without = (some: readonly Subject[], others: readonly Subject[]): Subject[] =>
  some.filter((one) => !others.some((other) => isSame(one, other)));

export function reconciledBinding(
  existing: BindingObject | undefined,
  manifest: BindingObject,
  removeExtra: boolean,
): Reconciled<BindingObject> {
  const subjects = manifest.subjects ?? [];
  if (existing === undefined) return { action: 'create', object: manifest, report: section('missing subjects added', subjects) };
  if (!equal(existing.roleRef, manifest.roleRef)) {
    const { labels, annotations } = merged(existing, manifest);
    const metadata = { ...manifest.metadata, ...(labels !== undefined && { labels }), ...(annotations !== undefined && { annotations }) };
    return { action: 'recreate', object: { ...manifest, metadata }, report: [] };
  }
  const have = existing.subjects ?? [];
  const missing = without(subjects, have);
  const extra = without(have, subjects);
  let object: BindingObject = { ...existing, metadata: merged(existing, manifest) };
  if (removeExtra && missing.length + extra.length > 0) object = { ...object, subjects };
  else if (missing.length > 0) object = { ...object, subjects: [...have, ...missing] };
  const report = [...section('missing subjects added', missing), ...(removeExtra ? section('extra subjects removed', extra) : [])];
  return { action: equal(existing, object) ? 'none' : 'update', object, report };
}
