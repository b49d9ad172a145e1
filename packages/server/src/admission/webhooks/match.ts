/**
 * Matches requests with webhooks. The part that depends on kind, subresource and operation is computed once
 * and kept, so that a request that no rule matches costs one look-up; selectors are evaluated for each request.
 */

import type { ServedKind } from '@plat-dev/kinds/served-kind';
import type { Labels } from '@plat-dev/meta/labels';
import type { AdmissionOperation, AdmissionRequest } from '../types.ts';
import type { RuleObject, Webhook } from './webhook.ts';

/** A webhook that may have to be called, and the version in which it takes the object. */
export interface Candidate {
  readonly webhook: Webhook;
  readonly served: ServedKind;
}

type Equivalents = (served: ServedKind) => readonly ServedKind[];

export class Matcher {
  readonly webhooks: readonly Webhook[];
  private readonly candidatesOf = new WeakMap<ServedKind, Map<string, readonly Candidate[]>>();

  constructor(webhooks: readonly Webhook[]) {
    this.webhooks = webhooks;
  }

  candidates(served: ServedKind, subresource: string, operation: AdmissionOperation, equivalents: Equivalents): readonly Candidate[] {
    if (this.webhooks.length === 0) return none;
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

  private find(served: ServedKind, subresource: string, operation: AdmissionOperation, equivalents: Equivalents): Candidate[] {
    // A webhook that could deny changes of webhooks could lock everybody out.
    if (isWebhookConfiguration(served)) return [];
    const others = equivalents(served).filter((one) => one !== served);
    return this.webhooks.flatMap((webhook): Candidate[] => {
      const matches = (rule: RuleObject, as: ServedKind): boolean => ruleMatches(rule, as, subresource, operation);
      if (webhook.rules.some((rule) => matches(rule, served))) return [{ webhook, served }];
      if (!webhook.equivalent) return [];
      for (const rule of webhook.rules) {
        const other = others.find((one) => matches(rule, one));
        if (other !== undefined) return [{ webhook, served: other }];
      }
      return [];
    });
  }
}
const none: readonly Candidate[] = [];

const isWebhookConfiguration = ({ kind, custom }: ServedKind): boolean => !custom && kind.group === 'admissionregistration';

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

// ---- selectors ---------------------------------------------------------------------------------------------------

const isNamespace = ({ kind }: ServedKind): boolean => kind.group === '' && kind.plural === 'namespaces';

/** Labels of the namespace of a request; undefined if it does not exist. */
export type NamespaceLabels = (namespace: string) => Labels | 'missing';

/** Returns `missing` if the selector needs a namespace that does not exist. */
export function namespaceSelected(
  { namespaceSelector }: Webhook,
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
export function objectSelected({ objectSelector }: Webhook, { object, oldObject }: AdmissionRequest): boolean {
  if (objectSelector.everything) return true;
  return [object, oldObject].some((one) => one?.metadata !== undefined && objectSelector.matches(one.metadata.labels));
}
