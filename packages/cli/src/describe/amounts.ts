/** Amounts of resources: what a container requests, and what the pods of a node request together. */

import type { Container } from '@plat-dev/kinds/core/schema/pods/containers';
import type { Pod } from '@plat-dev/kinds/core/schema/pods/pod';
import { own } from '@plat-dev/lib/own';
import { parseQuantity, type Quantity, zero } from '@plat-dev/meta/quantity';
import type { ReadForm } from './values.ts';

export type Amounts = Map<string, Quantity>;

/** `limits.cpu` of a container in units of a divisor, rounded up; empty for a resource that variables cannot have. */
export function containerAmount({ resources = {} }: ReadForm<Container>, path: string, divisorText = '0'): string {
  const [, side, name] = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/.exec(path) ?? [];
  if (side === undefined || name === undefined) return '';
  const givenDivisor = parseQuantity(divisorText);
  const divisor = givenDivisor.isZero ? parseQuantity('1') : givenDivisor;
  const amount = parseQuantity(own(resources[side as 'limits' | 'requests'], name) ?? '0');
  const units = (quantity: Quantity): number => Number(name === 'cpu' ? quantity.millis() : quantity.value());
  return String(Math.ceil(units(amount) / units(divisor)));
}

/** The sum of the containers, at least what each init container needs, and the overhead. */
export function podAmounts({ spec = {} }: ReadForm<Pod>): { requests: Amounts; limits: Amounts } {
  const requests: Amounts = new Map();
  const limits: Amounts = new Map();
  for (const { resources = {} } of spec.containers ?? []) {
    addTo(requests, resources.requests);
    addTo(limits, resources.limits);
  }
  for (const { resources = {} } of spec.initContainers ?? []) {
    raiseTo(requests, resources.requests);
    raiseTo(limits, resources.limits);
  }
  addTo(requests, spec.overhead);
  for (const [name, text] of Object.entries(spec.overhead ?? {})) {
    const limit = limits.get(name);
    if (limit !== undefined && !limit.isZero) limits.set(name, limit.add(parseQuantity(text)));
  }
  return { requests, limits };
}
export const amountOf = (amounts: Amounts, name: string): Quantity => amounts.get(name) ?? zero;

export function addAll(sums: Amounts, amounts: Amounts): void {
  for (const [name, amount] of amounts) sums.set(name, sums.get(name)?.add(amount) ?? amount);
}
const parsed = (amounts: Readonly<Record<string, string>> = {}): Amounts =>
  new Map(Object.entries(amounts).map(([name, text]) => [name, parseQuantity(text)]));
const addTo = (sums: Amounts, amounts: Readonly<Record<string, string>> | undefined): void => addAll(sums, parsed(amounts));
function raiseTo(most: Amounts, amounts: Readonly<Record<string, string>> | undefined): void {
  for (const [name, amount] of parsed(amounts)) {
    const previous = most.get(name);
    if (previous === undefined || amount.compare(previous) > 0) most.set(name, amount);
  }
}
