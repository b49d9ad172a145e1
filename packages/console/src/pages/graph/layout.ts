/** Where nodes and edges stand: each connected part by dagre, and the parts side by side. */
import { Graph, layout } from '@dagrejs/dagre';
import type { ShownGraph } from './groups.ts';

/** As the style sheet has them. */
export const NODE_WIDTH = 208;
export const NODE_HEIGHT = 52;
const GAP = 24;

export interface Point {
  readonly x: number;
  readonly y: number;
}
export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  /** The left upper corner of each node. */
  readonly nodes: ReadonlyMap<string, Point>;
  /** In the order of the edges of the graph. */
  readonly edges: readonly (readonly Point[])[];
}

interface PlacedPart {
  readonly width: number;
  readonly height: number;
  readonly nodes: ReadonlyMap<string, Point>;
  readonly edges: ReadonlyMap<number, readonly Point[]>;
}

/** Only what the places depend on, so that a change of a state moves nothing. */
export type LayoutInput = Pick<ShownGraph, 'edges'> & { readonly ids: readonly string[] };

/** `aspect`: the width of the place by its height. */
export function layoutOf(graph: LayoutInput, aspect: number): GraphLayout {
  const parts = partsOf(graph).map((part) => placedPart(part, graph));
  const area = parts.reduce((sum, { width, height }) => sum + (width + GAP) * (height + GAP), 0);
  const rowWidth = Math.max(...parts.map(({ width }) => width), Math.sqrt(area * aspect));
  return inRows(parts, rowWidth, graph.edges.length);
}

interface Part {
  readonly ids: readonly string[];
  readonly edges: readonly number[];
}

/** Connected parts, the largest first. */
function partsOf({ ids, edges }: LayoutInput): Part[] {
  const edgesOf = new Map<string, number[]>(ids.map((id) => [id, []]));
  for (const [i, { from, to }] of edges.entries()) {
    edgesOf.get(from)?.push(i);
    edgesOf.get(to)?.push(i);
  }
  const placed = new Set<string>();
  const parts: Part[] = [];
  for (const start of ids) {
    if (placed.has(start)) continue;
    const members: string[] = [];
    const ofPart = new Set<number>();
    const pending = [start];
    placed.add(start);
    for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
      members.push(id);
      for (const i of edgesOf.get(id) ?? []) {
        ofPart.add(i);
        const { from, to } = edges[i] as LayoutInput['edges'][number];
        for (const end of [from, to]) {
          if (placed.has(end)) continue;
          placed.add(end);
          pending.push(end);
        }
      }
    }
    parts.push({ ids: members, edges: [...ofPart] });
  }
  return parts.sort((one, other) => other.ids.length - one.ids.length);
}

function placedPart({ ids, edges }: Part, graph: LayoutInput): PlacedPart {
  const [only] = ids;
  if (ids.length === 1 && only !== undefined)
    return { width: NODE_WIDTH, height: NODE_HEIGHT, nodes: new Map([[only, { x: 0, y: 0 }]]), edges: new Map() };
  const part = new Graph({ multigraph: true });
  part.setGraph({ rankdir: 'LR', nodesep: 12, ranksep: 56, edgesep: 6 });
  for (const id of ids) part.setNode(id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const i of edges) {
    const { from, to } = graph.edges[i] as LayoutInput['edges'][number];
    part.setEdge(from, to, {}, String(i));
  }
  layout(part);
  const { width = 0, height = 0 } = part.graph();
  return {
    width,
    height,
    nodes: new Map(
      ids.map((id) => {
        const { x = 0, y = 0 } = part.node(id);
        return [id, { x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 }];
      }),
    ),
    edges: new Map(
      edges.map((i) => {
        const { from, to } = graph.edges[i] as LayoutInput['edges'][number];
        const middles = part.edge(from, to, String(i))?.points?.slice(1, -1) ?? [];
        return [i, [sideOf(part.node(from), 1), ...middles, sideOf(part.node(to), -1)]];
      }),
    ),
  };
}

/** Edges leave a node in the middle of its right side (1), and arrive in the middle of the left one (-1). */
const sideOf = ({ x = 0, y = 0 }: Partial<Point>, side: 1 | -1): Point => ({ x: x + (side * NODE_WIDTH) / 2, y });

/** Parts from left to right, in rows as wide as the place. */
function inRows(parts: readonly PlacedPart[], rowWidth: number, edgeCount: number): GraphLayout {
  const nodes = new Map<string, Point>();
  const edges: (readonly Point[])[] = Array.from({ length: edgeCount }, () => []);
  const place = { x: 0, y: 0, rowHeight: 0, width: 0 };
  for (const part of parts) {
    if (place.x > 0 && place.x + part.width > rowWidth) {
      place.y += place.rowHeight + GAP;
      place.x = 0;
      place.rowHeight = 0;
    }
    const moved = ({ x, y }: Point): Point => ({ x: x + place.x, y: y + place.y });
    for (const [id, point] of part.nodes) nodes.set(id, moved(point));
    for (const [i, points] of part.edges) edges[i] = points.map(moved);
    place.x += part.width + GAP;
    place.rowHeight = Math.max(place.rowHeight, part.height);
    place.width = Math.max(place.width, place.x - GAP);
  }
  return { width: place.width, height: place.y + place.rowHeight, nodes, edges };
}

/** The nearest node in a direction, for the arrow keys. */
export function neighbourOf(nodes: GraphLayout['nodes'], id: string, direction: Point): string | undefined {
  const from = nodes.get(id);
  if (from === undefined) return undefined;
  // Others begin in another column, or in another row.
  const leastAlong = (direction.x === 0 ? NODE_HEIGHT : NODE_WIDTH) / 2;
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const [other, { x, y }] of nodes) {
    const along = (x - from.x) * direction.x + (y - from.y) * direction.y;
    const across = Math.abs((x - from.x) * direction.y + (y - from.y) * direction.x);
    // What lies straight ahead is nearer than what lies aside.
    const distance = along + 3 * across;
    if (along < leastAlong || distance >= least) continue;
    least = distance;
    nearest = other;
  }
  return nearest;
}
