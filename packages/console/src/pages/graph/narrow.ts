/** The part of a graph that is asked for: by kind, by text and by state, with all that belongs to it. */
import type { Graph, GraphNode } from './graph.ts';
import { Links } from './links.ts';

export interface GraphFilter {
  /** Part of a name. */
  readonly text: string;
  readonly hiddenKinds: ReadonlySet<string>;
  /** Only what is not as it should be. */
  readonly isProblem: boolean;
}

export const kindId = ({ kind }: GraphNode): string => (kind.group === '' ? kind.resource : `${kind.resource}.${kind.group}`);

export function narrowedGraph(graph: Graph, { text, hiddenKinds, isProblem }: GraphFilter): Graph {
  const allowed = withNodes(graph, (node) => !hiddenKinds.has(kindId(node)));
  const wanted = text.trim().toLowerCase();
  if (wanted === '' && !isProblem) return allowed;
  const matches = allowed.nodes.filter(
    (node) => node.name.toLowerCase().includes(wanted) && (!isProblem || node.state?.tone === 'bad' || node.state?.tone === 'busy'),
  );
  const ids = matches.map(({ id }) => id);
  const links = new Links(allowed.edges);
  const dependents = reached(ids, (id) => links.from(id).map(({ to }) => to));
  const owners = reached(ids, (id) => links.to(id).map(({ from }) => from));
  const related = new Set([...dependents, ...owners]);
  return withNodes(allowed, ({ id }) => related.has(id));
}

function withNodes({ nodes, edges }: Graph, isWanted: (node: GraphNode) => boolean): Graph {
  const wanted = nodes.filter(isWanted);
  const ids = new Set(wanted.map(({ id }) => id));
  return { nodes: wanted, edges: edges.filter(({ from, to }) => ids.has(from) && ids.has(to)) };
}

/** What edges lead to, step by step. */
function reached(starts: readonly string[], next: (id: string) => readonly string[]): ReadonlySet<string> {
  const ids = new Set(starts);
  const pending = [...starts];
  for (let id = pending.pop(); id !== undefined; id = pending.pop())
    for (const other of next(id)) {
      if (ids.has(other)) continue;
      ids.add(other);
      pending.push(other);
    }
  return ids;
}
