/** LimitRanger: applies the defaults of a namespace's limit ranges to containers, and enforces their limits. */

import type { Container } from '@plat-dev/kinds/core/schema/pods/containers';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import type { LimitRange, LimitRangeItem } from '@plat-dev/kinds/core/schema/quota';
import type { PersistentVolumeClaim } from '@plat-dev/kinds/core/schema/volumes/persistent-volume-claims';
import { own } from '@plat-dev/lib/own';
import { domainName } from '@plat-dev/meta/identity';
import { kinds, type MakePlugin } from '../../plugin.ts';
import { refusal } from '../../refusal.ts';
import type { AdmissionRequest } from '../../types.ts';
import { type Amounts, below, beyond, beyondRatio, beyondRequest, podTotals } from './limit-checks.ts';

export const limitRanger: MakePlugin = ({ identity, live }) => {
  const ranges = live<LimitRange>('', 'limitranges');
  const annotation = domainName(identity, 'limit-ranger');
  /** Of the updates of a pod only a resize changes what its containers have. */
  const concerned = ({ operation, subresource, served, oldObject }: AdmissionRequest): boolean =>
    served.kind.plural === 'pods' && operation === 'UPDATE'
      ? subresource === 'resize'
      : subresource === '' && (operation === 'CREATE' || oldObject?.metadata.deletionTimestamp === undefined);
  return {
    name: 'LimitRanger',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    concerns: kinds('pods', 'persistentvolumeclaims'),
    admit(request) {
      if (request.served.kind.plural !== 'pods' || !concerned(request)) return;
      for (const range of ranges.list(request.namespace)) fillIn(request.object as unknown as Pod, range, annotation);
    },
    validate(request) {
      if (!concerned(request)) return;
      for (const range of ranges.list(request.namespace)) {
        const wrong = request.served.kind.plural === 'pods' ? checkPod(request, range) : checkClaim(request, range);
        if (wrong.length > 0) throw refusal(request, joined(wrong));
      }
    },
  };
};

/** One error as it is, several in brackets, none twice. */
function joined(texts: readonly string[]): string {
  const distinct = [...new Set(texts)];
  return distinct.length === 1 ? (distinct[0] as string) : `[${distinct.join(', ')}]`;
}

// ---- defaults ----------------------------------------------------------------------------------------------------

function fillIn(pod: Pod, range: LimitRange, annotation: string): void {
  let limits: Amounts = {};
  let requests: Amounts = {};
  for (const item of range.spec.limits ?? []) {
    if (item.type !== 'Container') continue;
    limits = { ...limits, ...item.default };
    requests = { ...requests, ...item.defaultRequest };
  }
  const notes: string[] = [];
  for (const container of pod.spec.containers ?? []) fillContainer(container, 'container', limits, requests, notes);
  for (const container of pod.spec.initContainers ?? []) fillContainer(container, 'init container', limits, requests, notes);
  if (notes.length > 0)
    pod.metadata.annotations = { ...pod.metadata.annotations, [annotation]: `LimitRanger plugin set: ${notes.join('; ')}` };
}

function fillContainer({ resources, name }: Container, type: string, limits: Amounts, requests: Amounts, notes: string[]): void {
  for (const which of ['requests', 'limits'] as const) {
    const givenAmounts = which === 'requests' ? requests : limits;
    const missing = Object.keys(givenAmounts).filter((key) => own(resources[which] ?? {}, key) === undefined);
    if (missing.length === 0) continue;
    resources[which] = { ...resources[which], ...Object.fromEntries(missing.map((key) => [key, own(givenAmounts, key) as string])) };
    notes.push(`${missing.sort().join(', ')} ${which.slice(0, -1)} for ${type} ${name}`);
  }
}

// ---- limits --------------------------------------------------------------------------------------------------------

function checkPod({ object }: AdmissionRequest, range: LimitRange): string[] {
  const { spec } = object as unknown as Pod;
  const wrong: string[] = [];
  for (const item of range.spec.limits ?? []) {
    if (item.type === 'Container') {
      for (const { resources } of [...(spec.containers ?? []), ...(spec.initContainers ?? [])])
        checkAmounts(item, resources.requests ?? {}, resources.limits ?? {}, wrong);
    } else if (item.type === 'Pod') checkAmounts(item, podTotals(spec, 'requests'), podTotals(spec, 'limits'), wrong);
  }
  return wrong;
}

function checkAmounts(item: LimitRangeItem, requests: Amounts, limits: Amounts, wrong: string[]): void {
  const check = (bounds: Amounts | undefined, rule: typeof below): void => {
    for (const name in bounds) {
      const problem = rule(item.type, name, bounds[name] as string, requests, limits);
      if (problem !== undefined) wrong.push(problem);
    }
  };
  check(item.min, below);
  check(item.max, beyond);
  check(item.maxLimitRequestRatio, beyondRatio);
}

function checkClaim({ object }: AdmissionRequest, range: LimitRange): string[] {
  const requests = (object as unknown as PersistentVolumeClaim).spec.resources.requests ?? {};
  const wrong: string[] = [];
  for (const item of range.spec.limits ?? []) {
    if (item.type !== 'PersistentVolumeClaim') continue;
    for (const [bounds, rule] of [[item.min, below] as const, [item.max, beyondRequest] as const]) {
      for (const name in bounds) {
        const problem = rule(item.type, name, bounds[name] as string, requests, {});
        if (problem !== undefined) wrong.push(problem);
      }
    }
  }
  return wrong;
}
