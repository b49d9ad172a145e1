/** What the page shows of nodes, and the changes that its buttons make. */
import type { Column, Row } from '../../api/collection.ts';
import type { ApiObject } from '../../api/objects.ts';
import type { StatusTone } from '../../parts/tones.ts';

export interface NodeObject extends ApiObject {
  readonly spec?: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  };
  readonly status?: {
    readonly capacity?: Readonly<Record<string, string>>;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly lastTransitionTime?: string }[];
  };
}

/** `simulation.` and the domain of the server's identity; undefined for a node that is a machine. */
export function simulationPrefix({ metadata: { annotations = {} } }: NodeObject): string | undefined {
  const mark = Object.entries(annotations).find(([name, value]) => /^simulation\.[^/]+\/node$/.test(name) && value === 'true');
  return mark?.[0].replace(/node$/, '');
}

/** An annotation makes a simulated node fail; the server notices it as with a real one, by its silence. */
export function isFailing(node: NodeObject): boolean {
  const prefix = simulationPrefix(node);
  return prefix !== undefined && node.metadata.annotations?.[`${prefix}down`] === 'true';
}

export const isCordoned = ({ spec }: NodeObject): boolean => spec?.unschedulable === true;

export interface NodeState {
  readonly text: string;
  readonly tone: StatusTone;
}

/** One word or two for a node; several where they hold together. */
export function statesOf(node: NodeObject): NodeState[] {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  const isReady = ready?.status === 'True';
  const states: NodeState[] = [isReady ? { text: 'Ready', tone: 'good' } : { text: 'Not ready', tone: 'bad' }];
  if (isFailing(node) && isReady) states.push({ text: 'Failing', tone: 'busy' });
  if (!isFailing(node) && !isReady && simulationPrefix(node) !== undefined) states.push({ text: 'Coming back', tone: 'busy' });
  if (isCordoned(node)) states.push({ text: 'Cordoned', tone: 'over' });
  return states;
}

export const cordonPatch = (isOn: boolean): object => ({ spec: { unschedulable: isOn ? true : null } });

export function failurePatch(node: NodeObject, isOn: boolean): object {
  return { metadata: { annotations: { [`${simulationPrefix(node)}down`]: isOn ? 'true' : null } } };
}

export interface PodCounts {
  readonly good: number;
  readonly busy: number;
  readonly bad: number;
  readonly over: number;
}
const noPods: PodCounts = { good: 0, busy: 0, bad: 0, over: 0 };

/** Pods of each node by the tone of their status, from the columns of the server's table of pods. */
export function podsByNode(
  rows: Iterable<Row>,
  columns: readonly Column[],
  toneOfStatus: (status: string) => StatusTone | undefined,
): ReadonlyMap<string, PodCounts> {
  const place = (name: string): number => columns.findIndex((column) => column.name === name);
  const [nodeAt, statusAt] = [place('Node'), place('Status')];
  const counts = new Map<string, PodCounts>();
  if (nodeAt < 0) return counts;
  for (const { cells } of rows) {
    const node = String(cells[nodeAt] ?? '');
    if (node === '' || node === '<none>') continue;
    const tone = toneOfStatus(String(cells[statusAt] ?? '')) ?? 'busy';
    const before = counts.get(node) ?? noPods;
    counts.set(node, { ...before, [tone]: before[tone] + 1 });
  }
  return counts;
}

export const totalOf = ({ good, busy, bad, over }: PodCounts): number => good + busy + bad + over;

/** `12 running, 1 failed`. */
export function countsText({ good, busy, bad, over }: PodCounts): string {
  const parts = [
    [good, 'running'],
    [busy, 'waiting'],
    [bad, 'failed'],
    [over, 'completed'],
  ] as const;
  return parts.flatMap(([count, word]) => (count === 0 ? [] : [`${count} ${word}`])).join(', ') || 'none';
}

/** How much faster time passes for objects, from the metrics; undefined where the server does not say it. */
export function timeFactorOf(metrics: string): number | undefined {
  const [, text] = /^apiserver_time_factor (\S+)$/m.exec(metrics) ?? [];
  return text === undefined ? undefined : Number(text);
}

/** Natural order: `node-2` before `node-10`. */
export const compareNames = (one: NodeObject, other: NodeObject): number => collator.compare(one.metadata.name, other.metadata.name);
const collator = new Intl.Collator('en', { numeric: true });
