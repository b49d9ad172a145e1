/** The nodes that there are, by the label of their pool. */
import type { Informer } from '@plat-dev/client/informer';
import type { QualifiedName } from '@plat-dev/meta/identity';
import { isReadyNode, type NodeObject } from './node-object.ts';

export class PoolMembers {
  /** Whether each node is ready. */
  private readonly pools = new Map<string, Map<string, boolean>>();

  /** Call it before other listeners, which then find it up to date. */
  constructor(nodes: Informer<NodeObject>, label: QualifiedName) {
    nodes.onChange(({ type, object, old }) => {
      const [before, after] = [old?.metadata.labels?.[label], type === 'deleted' ? undefined : object.metadata.labels?.[label]];
      const name = object.metadata.name ?? '';
      if (before !== undefined && before !== after) this.remove(before, name);
      if (after !== undefined) this.add(after, name, isReadyNode(object));
      else this.remove(object.metadata.labels?.[label] ?? '', name);
    });
  }
  of(pool: string): Iterable<string> {
    return this.pools.get(pool)?.keys() ?? [];
  }
  counts(pool: string): { readonly nodes: number; readonly ready: number } {
    const members = this.pools.get(pool);
    let ready = 0;
    for (const isReady of members?.values() ?? []) if (isReady) ready++;
    return { nodes: members?.size ?? 0, ready };
  }

  private add(pool: string, name: string, isReady: boolean): void {
    let members = this.pools.get(pool);
    if (members === undefined) {
      members = new Map();
      this.pools.set(pool, members);
    }
    members.set(name, isReady);
  }
  private remove(pool: string, name: string): void {
    const members = this.pools.get(pool);
    if (members?.delete(name) && members.size === 0) this.pools.delete(pool);
  }
}
