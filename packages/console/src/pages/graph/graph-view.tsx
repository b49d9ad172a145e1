/** The graph with what narrows it down, its zoom and its keys. */
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { KindObjects } from '../../api/several-kinds.ts';
import { useConsole } from '../../app/console.ts';
import { useKeys } from '../../app/use.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { Canvas } from './canvas.tsx';
import { graphOf } from './graph.ts';
import { GraphToolbar } from './graph-toolbar.tsx';
import { groupedGraph, type ShownGraph } from './groups.ts';
import { type GraphLayout, layoutOf } from './layout.ts';
import { kindId, narrowedGraph } from './narrow.ts';

/** More take long to place, and nobody could read them. */
const MOST_NODES = 600;
const zooms = [0.25, 0.4, 0.6, 0.8, 1, 1.25, 1.6] as const;
const WIDEST_ASPECT = 4;

export interface GraphViewProps {
  readonly content: readonly KindObjects[];
  readonly namespace: string;
  readonly children: ComponentChildren;
}

export function GraphView({ content, namespace, children }: GraphViewProps) {
  const { location } = useConsole();
  const { query } = location.route.value;
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const place = useRef<HTMLDivElement>(null);
  const filterField = useRef<HTMLInputElement>(null);
  const graph = useMemo(() => graphOf(content), [content]);
  const hidden = query.get('hide') ?? '';
  const text = query.get('q') ?? '';
  const isProblem = query.get('problems') === 'true';
  const whole = useMemo(
    () => groupedGraph(narrowedGraph(graph, { text, hiddenKinds: new Set(hidden.split(',')), isProblem }), opened),
    [graph, text, hidden, isProblem, opened],
  );
  const shown = useMemo(() => firstNodes(whole), [whole]);
  const layout = useLayout(shown, place);
  const [zoom, setZoom] = useZoom(layout, place);
  useKeys(
    [
      { key: 'f', label: 'Filter the graph', run: () => filterField.current?.focus() },
      { key: '+', label: 'Larger', run: () => setZoom(1) },
      { key: '-', label: 'Smaller', run: () => setZoom(-1) },
      { key: '0', label: 'The whole graph', run: () => setZoom(0) },
    ],
    [setZoom],
  );
  return (
    <div class="graph-page">
      <header class="graph-bar">
        <h1>Graph</h1>
        <span class="quiet" role="status">
          {graph.nodes.length === 1 ? '1 object' : `${graph.nodes.length.toLocaleString('en')} objects`} in {visibleText(namespace)}
        </span>
        <GraphToolbar
          kinds={new Map(graph.nodes.map((node) => [kindId(node), node.kind.kind]))}
          filterField={filterField}
          hasOpened={opened.size > 0}
          onZoom={setZoom}
          onClose={() => setOpened(new Set())}
        />
      </header>
      {children}
      {shown !== whole && (
        <p class="quiet">
          Only {MOST_NODES} of {whole.nodes.length.toLocaleString('en')} are drawn: hide kinds, or filter by a name.
        </p>
      )}
      <div class="graph-place" ref={place}>
        {shown.nodes.length === 0 ? (
          <EmptyState title="Nothing fits the filter">
            <p>Change the filter above, or clear it.</p>
          </EmptyState>
        ) : (
          <Canvas graph={shown} layout={layout} zoom={zoom} onZoom={setZoom} onOpen={(id) => setOpened(new Set([...opened, id]))} />
        )}
      </div>
    </div>
  );
}

function firstNodes(graph: ShownGraph): ShownGraph {
  if (graph.nodes.length <= MOST_NODES) return graph;
  const nodes = graph.nodes.slice(0, MOST_NODES);
  const ids = new Set(nodes.map(({ id }) => id));
  return { nodes, edges: graph.edges.filter(({ from, to }) => ids.has(from) && ids.has(to)) };
}

type Place = { readonly current: HTMLElement | null };

/** Another one where nodes or edges come or go; a state that changes moves nothing. */
function useLayout({ nodes, edges }: ShownGraph, place: Place): GraphLayout {
  const ids = nodes.map(({ id }) => id);
  return useMemo(() => {
    const { clientWidth = 1200, clientHeight = 700 } = place.current ?? {};
    return layoutOf({ ids, edges }, Math.min(WIDEST_ASPECT, clientWidth / Math.max(1, clientHeight)));
  }, [`${ids.join()} ${edges.map(({ from, to, relation }) => `${from}${to}${relation}`).join()}`]);
}

/** The smallest zoom at which a graph that is larger than the place is shown at first: letters can be read. */
const READABLE = 0.6;

/** The zoom, and what makes it larger (1), smaller (-1) or shows the whole (0). */
function useZoom(layout: GraphLayout, place: Place): [number, (step: number) => void] {
  const [zoom, setZoom] = useState<number | undefined>(undefined);
  const [fit, setFit] = useState(1);
  useEffect(() => {
    const { clientWidth, clientHeight } = place.current as HTMLElement;
    setFit(Math.min(1, (clientWidth - EDGES) / layout.width, (clientHeight - EDGES) / layout.height));
  }, [layout]);
  const shown = zoom ?? Math.max(READABLE, fit);
  const step = (by: number): void => {
    if (by === 0) setZoom(fit);
    else if (by > 0) setZoom(zooms.find((one) => one > shown + 0.01) ?? shown);
    else setZoom(zooms.findLast((one) => one < shown - 0.01) ?? shown);
  };
  return [shown, step];
}
const EDGES = 64;
