/**
 * The graph as it is shown: objects of one kind that belong to the same others become one node, with all that belongs to them alone,
 * until somebody opens it. Three hundred objects are too many to read, three hundred replicas of ten deployments are not.
 */
import type { Graph, GraphEdge, GraphNode } from './graph.ts';
import { append, Links } from './links.ts';
import type { NodeState } from './node-state.ts';

/** One object, or several of them as one. */
export interface ShownNode {
  /** Of a group the same as long as it has any members. */
  readonly id: string;
  readonly kind: GraphNode['kind'];
  /** More than one: a group. */
  readonly members: readonly GraphNode[];
}
export interface ShownGraph {
  readonly nodes: readonly ShownNode[];
  readonly edges: readonly GraphEdge[];
}

/** From so many on, objects that belong to the same others are one. */
export const GROUP_FROM = 4;

export function groupedGraph(graph: Graph, opened: ReadonlySet<string>): ShownGraph {
  const links = new Links(graph.edges);
  const groupOf = new Map<string, string>();
  const groups: ShownNode[] = [];
  for (const [id, bundle] of bundlesOf(graph.nodes, links)) {
    const members = bundle.filter((node) => !groupOf.has(node.id));
    const [first] = members;
    if (first === undefined || members.length < GROUP_FROM || opened.has(id)) continue;
    for (const inner of enclosedBy(members, links)) if (!groupOf.has(inner)) groupOf.set(inner, id);
    groups.push({ id, kind: first.kind, members });
  }
  const singles = graph.nodes.filter(({ id }) => !groupOf.has(id)).map((node) => ({ id: node.id, kind: node.kind, members: [node] }));
  return { nodes: [...groups, ...singles], edges: shownEdges(graph.edges, (id) => groupOf.get(id) ?? id) };
}

/** Objects that could be one, those nearer to the roots first: a group of jobs has their pods in it. */
function bundlesOf(nodes: readonly GraphNode[], links: Links): [string, GraphNode[]][] {
  const bundles = new Map<string, GraphNode[]>();
  for (const node of nodes) append(bundles, bundleKey(node, links), node);
  const depths = depthsOf(nodes, links);
  const depthOf = ([first]: readonly GraphNode[]): number => depths.get((first as GraphNode).id) ?? 0;
  return [...bundles].sort(([, one], [, other]) => depthOf(one) - depthOf(other));
}

/** By what an object belongs to; one that belongs to nothing, by what belongs to it. */
function bundleKey({ id, kind }: GraphNode, links: Links): string {
  const incoming = links.to(id).map(({ from, relation }) => `${relation} ${from}`);
  const ends = incoming.length > 0 ? incoming : links.from(id).map(({ to }) => to);
  return `${kind.group}/${kind.resource} ${ends.sort().join()}`;
}

/** Steps from the nearest root. */
function depthsOf(nodes: readonly GraphNode[], links: Links): ReadonlyMap<string, number> {
  const depths = new Map<string, number>();
  let level = nodes.filter(({ id }) => links.to(id).length === 0).map(({ id }) => id);
  for (let depth = 0; level.length > 0; depth++) {
    for (const id of level) depths.set(id, depth);
    level = [...new Set(level.flatMap((id) => links.from(id).map(({ to }) => to)))].filter((id) => !depths.has(id));
  }
  return depths;
}

/** Members, and what belongs to nothing else. */
function enclosedBy(members: readonly GraphNode[], links: Links): ReadonlySet<string> {
  const enclosed = new Set(members.map(({ id }) => id));
  const pending = [...enclosed];
  for (let id = pending.pop(); id !== undefined; id = pending.pop())
    for (const { to } of links.from(id)) {
      if (enclosed.has(to) || !links.to(to).every(({ from }) => enclosed.has(from))) continue;
      enclosed.add(to);
      pending.push(to);
    }
  return enclosed;
}

function shownEdges(edges: readonly GraphEdge[], shownId: (id: string) => string): GraphEdge[] {
  const byKey = new Map<string, GraphEdge>();
  for (const { relation, ...edge } of edges) {
    const [from, to] = [shownId(edge.from), shownId(edge.to)];
    if (from !== to) byKey.set(`${from} ${to} ${relation}`, { from, to, relation });
  }
  return [...byKey.values()];
}

/** How many members are in which state. */
export function statesOf(members: readonly GraphNode[]): readonly { readonly state: NodeState; readonly count: number }[] {
  const byText = new Map<string, { readonly state: NodeState; readonly count: number }>();
  for (const { state } of members)
    if (state !== undefined) byText.set(state.text, { state, count: (byText.get(state.text)?.count ?? 0) + 1 });
  return [...byText.values()].sort((one, other) => other.count - one.count);
}
