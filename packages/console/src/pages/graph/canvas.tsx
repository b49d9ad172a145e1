/** The drawing: nodes as links, edges behind them. One node can be reached by Tab, the others by the arrow keys. */
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ShownGraph } from './groups.ts';
import { type GraphLayout, NODE_HEIGHT, NODE_WIDTH, neighbourOf, type Point } from './layout.ts';
import { NodeBox } from './node-box.tsx';
import { usePanning } from './panning.ts';
import { relationTexts } from './relation-texts.ts';

export interface CanvasProps {
  readonly graph: ShownGraph;
  readonly layout: GraphLayout;
  readonly zoom: number;
  readonly onZoom: (step: number) => void;
  /** A group is opened. */
  readonly onOpen: (id: string) => void;
}

const directions: ReadonlyMap<string, Point> = new Map([
  ['ArrowLeft', { x: -1, y: 0 }],
  ['ArrowRight', { x: 1, y: 0 }],
  ['ArrowUp', { x: 0, y: -1 }],
  ['ArrowDown', { x: 0, y: 1 }],
]);

export function Canvas({ graph, layout, zoom, onZoom, onOpen }: CanvasProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState<string | undefined>(undefined);
  const [pointed, setPointed] = useState<string | undefined>(undefined);
  const texts = useMemo(() => relationTexts(graph), [graph]);
  usePanning(scroller, onZoom);
  useKeptMiddle(scroller, zoom);
  const first = current !== undefined && layout.nodes.has(current) ? current : graph.nodes[0]?.id;
  const move = (event: KeyboardEvent): void => {
    const direction = directions.get(event.key);
    if (direction === undefined || first === undefined) return;
    event.preventDefault();
    const next = neighbourOf(layout.nodes, first, direction);
    if (next === undefined) return;
    setCurrent(next);
    scroller.current?.querySelector<HTMLElement>(`[data-node="${CSS.escape(next)}"]`)?.focus();
  };
  const width = layout.width * zoom;
  const height = layout.height * zoom;
  return (
    <div class="graph-canvas" ref={scroller}>
      <div class="graph-size" style={{ width: `${width}px`, height: `${height}px` }}>
        <div class="graph-drawing" style={{ width: `${layout.width}px`, height: `${layout.height}px`, transform: `scale(${zoom})` }}>
          <Edges graph={graph} layout={layout} pointed={pointed} />
          <ul aria-label="Objects" onKeyDown={move}>
            {graph.nodes.map((node) => {
              const { x, y } = layout.nodes.get(node.id) ?? { x: 0, y: 0 };
              return (
                <li
                  key={node.id}
                  style={{ left: `${x}px`, top: `${y}px`, width: `${NODE_WIDTH}px`, height: `${NODE_HEIGHT}px` }}
                  onPointerEnter={() => setPointed(node.id)}
                  onPointerLeave={() => setPointed(undefined)}
                  onFocusCapture={() => {
                    setCurrent(node.id);
                    setPointed(node.id);
                  }}
                >
                  <NodeBox node={node} relations={texts.get(node.id) ?? ''} isReachable={node.id === first} onOpen={onOpen} />
                </li>
              );
            })}
          </ul>
        </div>
      </div>
    </div>
  );
}

interface EdgesProps {
  readonly graph: ShownGraph;
  readonly layout: GraphLayout;
  readonly pointed: string | undefined;
}
function Edges({ graph, layout, pointed }: EdgesProps) {
  return (
    <svg class="graph-edges" width={layout.width} height={layout.height} aria-hidden="true">
      <defs>
        <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
          <path d="M0 0 8 4 0 8Z" />
        </marker>
      </defs>
      {graph.edges.map(({ from, to, relation }, i) => (
        <path
          key={`${from} ${to} ${relation}`}
          class={from === pointed || to === pointed ? `${relation} pointed` : relation}
          d={pathOf(layout.edges[i] ?? [])}
          marker-end="url(#arrow)"
        />
      ))}
    </svg>
  );
}

/** A line through points, with soft corners. */
function pathOf([start, ...points]: readonly Point[]): string {
  if (start === undefined) return '';
  const last = points.at(-1) ?? start;
  const middles = points.slice(0, -1).map((point, i) => {
    const next = points[i + 1] as Point;
    const end = i === points.length - 2 ? next : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q${point.x} ${point.y} ${end.x} ${end.y}`;
  });
  return `M${start.x} ${start.y}${middles.length === 0 ? `L${last.x} ${last.y}` : middles.join('')}`;
}

/** What is in the middle stays there when the zoom changes. */
function useKeptMiddle(scroller: { readonly current: HTMLElement | null }, zoom: number): void {
  const last = useRef(zoom);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || last.current === zoom) return;
    const factor = zoom / last.current;
    element.scrollLeft = (element.scrollLeft + element.clientWidth / 2) * factor - element.clientWidth / 2;
    element.scrollTop = (element.scrollTop + element.clientHeight / 2) * factor - element.clientHeight / 2;
    last.current = zoom;
  }, [zoom]);
}
