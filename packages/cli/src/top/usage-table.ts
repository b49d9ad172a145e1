/** Tables of usage: processor time in thousandths of a core, memory in mebibytes. */
import { parseQuantity, type Quantity, quantityOf } from '@plat-dev/meta/quantity';
import { printable } from '../output/print-table.ts';
import { closedTable, tabbed } from '../output/tabbed-columns.ts';
import type { NodeMetrics, PodMetrics, Usage } from './usage.ts';

export type SortBy = '' | 'cpu' | 'memory';
const measured = ['cpu', 'memory'] as const;
type Amounts = Readonly<Record<(typeof measured)[number], Quantity>>;

const amountsOf = (usage: Usage = {}): Amounts => ({
  cpu: parseQuantity(usage.cpu ?? '0'),
  memory: parseQuantity(usage.memory ?? '0'),
});
const cores = ({ cpu }: Amounts): string => `${cpu.millis()}m`;
const bytes = ({ memory }: Amounts): string => `${memory.value() / (1024n * 1024n)}Mi`;

/** The largest first, or by name. */
function sorted<T extends { readonly amounts: Amounts; readonly key: string }>(items: readonly T[], by: SortBy): T[] {
  const byKey = (a: T, b: T): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
  if (by === '') return [...items].sort(byKey);
  const amount = ({ amounts }: T): bigint => (by === 'cpu' ? amounts.cpu.millis() : amounts.memory.value());
  return [...items].sort((a, b) => (amount(a) < amount(b) ? 1 : amount(a) > amount(b) ? -1 : byKey(a, b)));
}

/** `available`: what each node has, by its name. Nodes without metrics come last. */
export function nodeTable(
  metrics: readonly NodeMetrics[],
  available: ReadonlyMap<string, Usage>,
  { sortBy, headers }: { readonly sortBy: SortBy; readonly headers: boolean },
): string {
  const rows = sorted(
    metrics.map(({ metadata, usage }) => ({ key: metadata.name, amounts: amountsOf(usage) })),
    sortBy,
  ).map(({ key, amounts }) => {
    const whole = available.get(key) ?? {};
    const share = (name: (typeof measured)[number]): string[] => {
      const text = whole[name];
      return text === undefined ? [] : [`${percent(amounts[name], parseQuantity(text))}%`];
    };
    return [printable(key), cores(amounts), ...share('cpu'), bytes(amounts), ...share('memory')];
  });
  const measuredNodes = new Set(metrics.map(({ metadata }) => metadata.name));
  const missing = [...available.keys()].filter((name) => !measuredNodes.has(name)).sort();
  for (const name of missing) rows.push([printable(name), ...Array<string>(4).fill('<unknown>')]);
  if (headers) rows.unshift(['NAME', 'CPU(cores)', 'CPU%', 'MEMORY(bytes)', 'MEMORY%']);
  return tabbed(rows, closedTable);
}
/** Rounded down, by floating-point numbers as the stock client does: 29 of 100 are 28 percent. */
function percent(part: Quantity, whole: Quantity): number {
  const share = (Number(part.millis()) / Number(whole.millis())) * 100;
  return Number.isFinite(share) ? Math.trunc(share) : 0;
}

export interface PodTableStyle {
  readonly sortBy: SortBy;
  readonly headers: boolean;
  readonly namespaces: boolean;
  readonly containers: boolean;
}
export function podTable(metrics: readonly PodMetrics[], style: PodTableStyle): string {
  const pods = metrics.map(({ metadata, containers = [] }) => {
    const each = containers.map(({ name, usage }) => ({ key: name, amounts: amountsOf(usage) }));
    const namespace = metadata.namespace ?? '';
    return {
      key: style.namespaces ? `${namespace}\n${metadata.name}` : metadata.name,
      namespace,
      name: metadata.name,
      amounts: sum(each.map(({ amounts }) => amounts)),
      containers: each,
    };
  });
  const rows = sorted(pods, style.sortBy).flatMap(({ namespace, name, amounts, containers }) => {
    const begin = [...(style.namespaces ? [printable(namespace)] : []), printable(name)];
    if (!style.containers) return [[...begin, cores(amounts), bytes(amounts)]];
    return sorted(containers, style.sortBy).map((one) => [...begin, printable(one.key), cores(one.amounts), bytes(one.amounts)]);
  });
  const titles = [...(style.namespaces ? ['NAMESPACE'] : []), ...(style.containers ? ['POD'] : []), 'NAME', 'CPU(cores)', 'MEMORY(bytes)'];
  return tabbed(style.headers ? [titles, ...rows] : rows, closedTable);
}
function sum(all: readonly Amounts[]): Amounts {
  const none: Amounts = { cpu: quantityOf(0), memory: quantityOf(0) };
  return all.reduce((a, b) => ({ cpu: a.cpu.add(b.cpu), memory: a.memory.add(b.memory) }), none);
}
