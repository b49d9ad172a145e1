/** A store of objects for tests, with the live views that authorizers and authenticators read. */
import type { ApiObject } from '../kinds/kind.ts';
import type { Change, Live, LiveSource } from '../kinds/live.ts';

class FakeLive implements Live<ApiObject> {
  generation = 0;
  private readonly objects = new Map<string, ApiObject>();
  private readonly listeners = new Set<(change: Change<ApiObject>) => void>();

  get(namespace: string, name: string): ApiObject | undefined {
    return this.objects.get(`${namespace}/${name}`);
  }
  list(namespace?: string): readonly ApiObject[] {
    const keys = [...this.objects.keys()].filter((key) => namespace === undefined || key.startsWith(`${namespace}/`)).sort();
    return keys.map((key) => this.objects.get(key) as ApiObject);
  }
  onChange(listener: (change: Change<ApiObject>) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
  put(object: ApiObject): void {
    const key = `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
    const old = this.objects.get(key);
    this.objects.set(key, object);
    this.tell({ type: old === undefined ? 'added' : 'modified', object, old });
  }
  remove(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    const old = this.objects.get(key);
    if (old === undefined) return;
    this.objects.delete(key);
    this.tell({ type: 'deleted', object: old, old });
  }
  private tell(change: Change<ApiObject>): void {
    this.generation++;
    for (const listener of this.listeners) listener(change);
  }
}

export class FakeStore {
  private readonly kinds = new Map<string, FakeLive>();
  readonly live: LiveSource = ((group: string, plural: string) => this.kind(group, plural)) as unknown as LiveSource;

  private kind(group: string, plural: string): FakeLive {
    const key = `${plural}.${group}`;
    let live = this.kinds.get(key);
    if (live === undefined) {
      live = new FakeLive();
      this.kinds.set(key, live);
    }
    return live;
  }
  put(group: string, plural: string, object: Omit<ApiObject, 'metadata'> & { metadata: Partial<ApiObject['metadata']> }): void {
    this.kind(group, plural).put(object as ApiObject);
  }
  remove(group: string, plural: string, namespace: string, name: string): void {
    this.kind(group, plural).remove(namespace, name);
  }
}
