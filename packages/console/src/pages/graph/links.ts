/** The edges of a graph by their ends. */
import type { GraphEdge } from './graph.ts';

export class Links {
  readonly #incoming = new Map<string, GraphEdge[]>();
  readonly #outgoing = new Map<string, GraphEdge[]>();

  constructor(edges: readonly GraphEdge[]) {
    for (const edge of edges) {
      append(this.#incoming, edge.to, edge);
      append(this.#outgoing, edge.from, edge);
    }
  }
  to(id: string): readonly GraphEdge[] {
    return this.#incoming.get(id) ?? [];
  }
  from(id: string): readonly GraphEdge[] {
    return this.#outgoing.get(id) ?? [];
  }
}

export function append<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
