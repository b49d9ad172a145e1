/** Namespaces, with their quotas and limit ranges. */

import type { Namespace } from '@plat-dev/kinds/core/schema/namespace';
import type { LimitRange, ResourceQuota } from '@plat-dev/kinds/core/schema/quota';
import { own } from '@plat-dev/lib/own';
import { ApiError } from '@plat-dev/meta/errors';
import { parseQuantity, Quantity } from '@plat-dev/meta/quantity';
import { builtIns } from './cluster.ts';
import type { Describer } from './describer.ts';
import { inOrder } from './order.ts';
import type { Cell, Page } from './page.ts';
import { type Described, longTime } from './values.ts';

export const describeNamespace: Describer<Namespace> = {
  events: false,
  async write(page, { metadata, status = {} }, cluster) {
    const { name = '' } = metadata;
    const quotas = await cluster.list<ResourceQuota>(builtIns.resourceQuotas, name).catch(missing);
    const ranges = await cluster.list<LimitRange>(builtIns.limitRanges, name).catch(missing);
    page.field('Name', name).labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations);
    page.field('Status', status.phase);
    const { conditions = [] } = status;
    if (conditions.length > 0)
      page
        .heading('Conditions')
        .at(1)
        .table(
          ['Type', 'Status', 'LastTransitionTime', 'Reason', 'Message'],
          conditions.map((c) => [c.type, c.status, longTime(c.lastTransitionTime), c.reason, c.message]),
        );
    if (quotas !== undefined) writeQuotas(page.line(), quotas);
    if (ranges !== undefined) writeRanges(page.line(), ranges);
  },
};
/** A server without that resource has nothing to show. */
function missing(error: unknown): undefined {
  if (error instanceof ApiError && error.code === 404) return undefined;
  throw error;
}

function writeQuotas(page: Page, quotas: readonly Described<ResourceQuota>[]): void {
  if (quotas.length === 0) {
    page.line('No resource quota.');
    return;
  }
  page.line('Resource Quotas');
  const below = page.at(1);
  for (const quota of [...quotas].sort((a, b) => inOrder(a.metadata.name, b.metadata.name))) {
    below.field('Name', quota.metadata.name);
    writeScopes(below, quota, '* ');
    below.table(['Resource', 'Used', 'Hard'], usage(quota, false), [8, 3, 3]);
  }
}
function writeRanges(page: Page, ranges: readonly Described<LimitRange>[]): void {
  if (ranges.length === 0) {
    page.line('No LimitRange resource.');
    return;
  }
  page.line('Resource Limits').at(' ').table(limitColumns, ranges.flatMap(limitRows));
}

// ---- quotas ------------------------------------------------------------------------------------------------------

const scopeTexts: Readonly<Record<string, string>> = {
  Terminating:
    'Matches all pods that have an active deadline. These pods have a limited lifespan on a node before being actively terminated by the system.',
  NotTerminating:
    'Matches all pods that do not have an active deadline. These pods usually include long running pods whose container command is not expected to terminate.',
  BestEffort: 'Matches all pods that do not have resource requirements set. These pods have a best effort quality of service.',
  NotBestEffort:
    'Matches all pods that have at least one resource requirement set. These pods have a burstable or guaranteed quality of service.',
};
function writeScopes(page: Page, { spec = {} }: Described<ResourceQuota>, bullet: string): void {
  const scopes = [...(spec.scopes ?? [])].sort();
  if (scopes.length === 0) return;
  page.field('Scopes', scopes.join(', '));
  for (const scope of scopes) if (own(scopeTexts, scope) !== undefined) page.line(`${bullet}${own(scopeTexts, scope)}`);
}
/** `alike`: what is used has the suffixes of its limit. */
function usage({ status = {} }: Described<ResourceQuota>, alike: boolean): Cell[][] {
  const { hard = {}, used = {} } = status;
  return Object.keys(hard)
    .sort()
    .map((name) => {
      const limit = parseQuantity(hard[name] as string);
      const amount = parseQuantity(own(used, name) ?? '0');
      const usedAmount = alike && amount.format !== limit.format ? new Quantity(amount.value(), 0, limit.format) : amount;
      return [name, String(usedAmount), String(limit)];
    });
}

export const describeQuota: Describer<ResourceQuota> = {
  events: false,
  async write(page, quota) {
    page.field('Name', quota.metadata.name).field('Namespace', quota.metadata.namespace);
    writeScopes(page, quota, ' * ');
    page.table(['Resource', 'Used', 'Hard'], usage(quota, true));
  },
};

// ---- limit ranges ------------------------------------------------------------------------------------------------

const limitColumns = ['Type', 'Resource', 'Min', 'Max', 'Default Request', 'Default Limit', 'Max Limit/Request Ratio'];

/** A row for each resource of each limit. */
function limitRows({ spec = {} }: Described<LimitRange>): Cell[][] {
  return (spec.limits ?? []).flatMap((item) => {
    const sides = [item.min, item.max, item.defaultRequest, item.default, item.maxLimitRequestRatio];
    const names = new Set(sides.flatMap((amounts = {}) => Object.keys(amounts)));
    return [...names].sort().map((name) => [item.type, name, ...sides.map((amounts) => own(amounts, name) ?? '-')]);
  });
}

export const describeLimitRange: Describer<LimitRange> = {
  events: false,
  async write(page, range) {
    page.field('Name', range.metadata.name).field('Namespace', range.metadata.namespace);
    page.table(limitColumns, limitRows(range));
  },
};
