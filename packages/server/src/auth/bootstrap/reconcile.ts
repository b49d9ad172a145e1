/**
 * Reconciles bootstrap roles and bindings with those of this release without removing additions of users:
 * missing rules, subjects, labels and annotations are restored, additions stay, and an object annotated with
 * `autoupdate: false` is left unchanged.
 */

import { isDeepStrictEqual } from 'node:util';
import { compact, missingFrom } from '@plat-dev/kinds/rbac/covers';
import type { Subject } from '@plat-dev/kinds/rbac/schema/v1';
import type { Identity } from '@plat-dev/meta/identity';
import type { BindingObject } from '../authz/policy-rules.ts';
import { autoupdateAnnotation, type ClusterRoleObject } from './objects.ts';

/** `recreate`: the old object must be deleted first, because the change cannot be made in place. */
export type Reconciled<T> = { readonly action: 'none' } | { readonly action: 'create' | 'update' | 'recreate'; readonly object: T };

type WithMetadata = Pick<ClusterRoleObject, 'metadata'>;

const isLeftAlone = (identity: Identity, existing: WithMetadata): boolean =>
  existing.metadata.annotations?.[autoupdateAnnotation(identity)] === 'false';

/** Missing labels and annotations are added; existing values stay. */
function merged<T extends WithMetadata>(existing: T, desired: T): T['metadata'] {
  const labels = { ...desired.metadata.labels, ...existing.metadata.labels };
  const annotations = { ...desired.metadata.annotations, ...existing.metadata.annotations };
  return { ...existing.metadata, labels, annotations };
}

function updated<T extends WithMetadata>(existing: T, object: T): Reconciled<T> {
  return isDeepStrictEqual(existing, object) ? { action: 'none' } : { action: 'update', object };
}

/** Roles and cluster roles. */
export function reconcileRole<T extends ClusterRoleObject>(identity: Identity, existing: T | undefined, desired: T): Reconciled<T> {
  if (existing === undefined) return { action: 'create', object: desired };
  if (isLeftAlone(identity, existing)) return { action: 'none' };
  let object = { ...existing, metadata: merged(existing, desired) };
  if (desired.aggregationRule === undefined) {
    const missing = compact(missingFrom(existing.rules ?? [], desired.rules ?? [], false));
    if (missing.length > 0) object = { ...object, rules: [...(existing.rules ?? []), ...missing] };
  } else {
    const selectors = existing.aggregationRule?.clusterRoleSelectors ?? [];
    const more = (desired.aggregationRule.clusterRoleSelectors ?? []).filter(
      (one) => !selectors.some((have) => isDeepStrictEqual(have.matchLabels, one.matchLabels)),
    );
    // The rules of an aggregated role are set by its controller; only the first start sets them here.
    if (more.length > 0)
      object = { ...object, aggregationRule: { ...existing.aggregationRule, clusterRoleSelectors: [...selectors, ...more] } };
  }
  return updated(existing, object);
}

const sameSubject = (a: Subject, b: Subject): boolean =>
  a.kind === b.kind && a.name === b.name && (a.namespace ?? '') === (b.namespace ?? '') && (a.apiGroup ?? '') === (b.apiGroup ?? '');

/** Role bindings and cluster role bindings. The role of a binding is immutable, so another role means another binding. */
export function reconcileBinding<T extends BindingObject>(identity: Identity, existing: T | undefined, desired: T): Reconciled<T> {
  if (existing === undefined) return { action: 'create', object: desired };
  if (isLeftAlone(identity, existing)) return { action: 'none' };
  if (!isDeepStrictEqual(existing.roleRef, desired.roleRef)) {
    const { labels, annotations } = merged(existing, desired);
    return { action: 'recreate', object: { ...desired, metadata: { ...desired.metadata, labels, annotations } } };
  }
  let object = { ...existing, metadata: merged(existing, desired) };
  const subjects = existing.subjects ?? [];
  const missing = (desired.subjects ?? []).filter((subject) => !subjects.some((have) => sameSubject(have, subject)));
  if (missing.length > 0) object = { ...object, subjects: [...subjects, ...missing] };
  return updated(existing, object);
}
