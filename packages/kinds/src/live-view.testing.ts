/** A store of objects for tests, with the live views that authorizers, authenticators and admission plug-ins read. */
import { frozen } from '@plat-dev/lib/frozen';
import type { ApiObject } from './kind.ts';
import type { Change, LiveSource, LiveView } from './live-view.ts';

const keyOf = ({ metadata: { namespace, name = '' } }: ApiObject): string => (namespace === undefined ? name : `${namespace}/${name}`);

export class FakeLive implements LiveView<ApiObject> {
  generation = 0;
  private readonly objects = new Map<string, ApiObject>();
  private readonly listeners = new Set<(change: Change<ApiObject>) => void>();

  /** Keys that were read alone, while the objects are not loaded. */
  private looked: Set<string> | undefined;

  /** As while the objects are still being loaded. */
  hold(): void {
    this.looked = new Set();
  }
  look(namespace: string, name: string): Promise<void> | undefined {
    this.looked?.add(`${namespace}/${name}`);
    return this.looked && Promise.resolve();
  }
  get(namespace: string, name: string): ApiObject | undefined {
    if (this.looked?.has(`${namespace}/${name}`) === false) throw new Error(`${namespace}/${name} is not loaded`);
    return this.objects.get(`${namespace}/${name}`);
  }
  list(namespace?: string, limit?: number): readonly ApiObject[] {
    const keys = [...this.objects.keys()].filter((key) => namespace === undefined || key.startsWith(`${namespace}/`)).sort();
    return keys.slice(0, limit).map((key) => this.objects.get(key) as ApiObject);
  }
  onChange(listener: (change: Change<ApiObject>) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
  whenLoaded(call: () => void): void {
    call();
  }
  put(object: ApiObject): void {
    const key = `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
    const old = this.objects.get(key);
    // A copy, since tests may change theirs.
    const kept = frozen(structuredClone(object));
    this.objects.set(key, kept);
    this.notify({ type: old === undefined ? 'added' : 'modified', key: keyOf(kept), object: kept, old });
  }
  remove(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    const old = this.objects.get(key);
    if (old === undefined) return;
    this.objects.delete(key);
    this.notify({ type: 'deleted', key: keyOf(old), object: old, old });
  }
  private notify(change: Change<ApiObject>): void {
    this.generation++;
    for (const listener of this.listeners) listener(change);
  }
}

export class FakeStore {
  private readonly kinds = new Map<string, FakeLive>();
  readonly live: LiveSource = ((group: string, plural: string) => this.view(group, plural)) as unknown as LiveSource;

  view(group: string, plural: string): FakeLive {
    const key = `${plural}.${group}`;
    let live = this.kinds.get(key);
    if (live === undefined) {
      live = new FakeLive();
      this.kinds.set(key, live);
    }
    return live;
  }
  put(group: string, plural: string, object: Omit<ApiObject, 'metadata'> & { metadata: Partial<ApiObject['metadata']> }): void {
    this.view(group, plural).put(object as ApiObject);
  }
  remove(group: string, plural: string, namespace: string, name: string): void {
    this.view(group, plural).remove(namespace, name);
  }
}
