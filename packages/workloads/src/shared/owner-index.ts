/** Objects of an informer by the uid of their controller, and by namespace where they have none. */
import type { Informer } from '@plat-dev/client/informer';
import type { Informers } from '@plat-dev/controllers/runtime/informers';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { controllerOf } from './pods.ts';

export class OwnerIndex<T extends ApiObject> {
  private readonly owners = new Map<string, Map<string, T>>();
  private readonly orphans = new Map<string, Map<string, T>>();

  constructor(informer: Informer<T>) {
    informer.onChange(({ type, object, old }) => {
      if (old !== undefined) this.remove(old);
      if (type !== 'deleted') this.add(object);
    });
  }
  /** Objects that an object controls. */
  ownedBy(uid: string): Iterable<T> {
    return this.owners.get(uid)?.values() ?? [];
  }
  /** Objects of a namespace that nothing controls. */
  orphansIn(namespace: string): Iterable<T> {
    return this.orphans.get(namespace)?.values() ?? [];
  }

  private add(object: T): void {
    const { index, key, id } = this.place(object);
    let objects = index.get(key);
    if (objects === undefined) {
      objects = new Map();
      index.set(key, objects);
    }
    objects.set(id, object);
  }
  private remove(object: T): void {
    const { index, key, id } = this.place(object);
    const objects = index.get(key);
    if (objects?.delete(id) && objects.size === 0) index.delete(key);
  }
  private place(object: T): { index: Map<string, Map<string, T>>; key: string; id: string } {
    const { namespace = '', name = '' } = object.metadata;
    const owner = controllerOf(object)?.uid;
    const id = `${namespace}/${name}`;
    return owner === undefined ? { index: this.orphans, key: namespace, id } : { index: this.owners, key: owner, id };
  }
}

/** The index that all users of an informer share. Call it before `informer.onChange`, whose listeners then find it up to date. */
export function ownerIndex<T extends ApiObject>(informers: Informers, resource: string, informer: Informer<T>): OwnerIndex<T> {
  return informers.share(`${resource} by owner`, () => new OwnerIndex<T>(informer));
}
