/** What the edges of each node say, for those who do not see them. */
import { visibleText } from '../../parts/visible-text.ts';
import type { Relation } from './graph.ts';
import type { ShownGraph, ShownNode } from './groups.ts';

const phrases: Readonly<Record<Relation, string>> = {
  owns: 'owned by',
  selects: 'selected by',
  routes: 'reached from',
  mounts: 'mounted by',
  binds: 'bound to',
  scales: 'scaled by',
};
/** More are not read aloud. */
const MOST = 5;

export const titleOf = ({ kind, members }: ShownNode): string =>
  members.length === 1 ? visibleText(members[0]?.name ?? '') : `${members.length.toLocaleString('en')} ${kind.resource}`;

export function relationTexts({ nodes, edges }: ShownGraph): ReadonlyMap<string, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const texts = new Map<string, string[]>();
  for (const { from, to, relation } of edges) {
    const source = byId.get(from);
    const list = texts.get(to) ?? [];
    if (source === undefined || list.length >= MOST) continue;
    list.push(`${phrases[relation]} ${source.kind.kind} ${titleOf(source)}`);
    texts.set(to, list);
  }
  return new Map([...texts].map(([id, list]) => [id, list.join(', ')]));
}
