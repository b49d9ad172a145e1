/**
 * Deletes the content of a terminating namespace and then removes its finalizer. The conditions of the namespace report
 * what remains in it and why.
 */

import type { Client } from '@plat-dev/client/dynamic';
import { isConflict, isNotFound } from '@plat-dev/client/http';
import type { Namespace } from '@plat-dev/kinds/core/schema/namespace';
import type { Wire } from '@plat-dev/kinds/wire';
import { type Controller, refs } from '../runtime/controller.ts';
import { conditionsOf, mergeConditions } from './conditions.ts';
import { type ContentResult, deletable, deleteContent } from './content.ts';

type NamespaceObject = Wire<Namespace>;

export interface NamespaceSettings {
  /**
   * Delay after the deletion of a namespace began. If several servers share a store, one may still create an object
   * because it has not seen the deletion yet.
   */
  readonly delayMs: number;
  /** Nothing but pods is deleted while there are any. */
  readonly podsFirst?: boolean | undefined;
}

/** Delays between checks of a namespace that is blocked: short at first, and no longer than this. */
const FIRST_LOOK_MS = 250;
const LONGEST_LOOK_MS = 8000;
/** Namespaces processed at a time. */
const WORKERS = 5;

export function namespaceController({ delayMs, podsFirst = false }: NamespaceSettings): Controller {
  return {
    name: 'namespace',
    account: 'namespace-controller',
    start({ informers, queue, client, served, identity, clock }) {
      const namespaces = informers.of<NamespaceObject>(refs.namespaces);
      const looks = new Map<string, number>();
      const work = queue(
        async (name) => {
          const finished = await empty(name);
          if (finished) {
            looks.delete(name);
            return;
          }
          const look = looks.get(name) ?? 1;
          looks.set(name, look + 1);
          return Math.min(FIRST_LOOK_MS * 2 ** (look - 1), LONGEST_LOOK_MS);
        },
        { workers: WORKERS, after: [namespaces.synced] },
      );
      const empty = async (name: string): Promise<boolean> => {
        const namespace = await client.find<NamespaceObject>(refs.namespaces, '', name);
        if (namespace?.metadata.deletionTimestamp === undefined) return true;
        if (!(namespace.spec?.finalizers ?? []).includes(identity.word)) return true;
        const { resources, unserved, failed } = await served.get();
        const now = clock.now();
        const content = await deleteContent(client, name, [...resources, ...unserved].filter(deletable), {
          now,
          again: looks.has(name),
          podsFirst,
        });
        const reported = await report(client, name, content, failed, now);
        if (reported === undefined) return true;
        if (content.remains.length > 0 || content.failures.length > 0 || failed.size > 0) return false;
        return finish(client, reported, identity.word);
      };
      namespaces.onChange(({ type, object }) => {
        const name = object.metadata.name ?? '';
        if (type === 'deleted') looks.delete(name);
        else if (object.metadata.deletionTimestamp !== undefined && !looks.has(name)) work.addAfter(name, delayMs);
      });
    },
  };
}

/** Writes the result to the status. Returns the updated namespace; undefined when it is gone. */
async function report(
  client: Client,
  name: string,
  content: ContentResult,
  failed: ReadonlyMap<string, string>,
  now: number,
): Promise<NamespaceObject | undefined> {
  for (;;) {
    const namespace = await client.find<NamespaceObject>(refs.namespaces, '', name);
    if (namespace === undefined) return undefined;
    const conditions = mergeConditions(namespace.status?.conditions ?? [], conditionsOf(content, failed), now);
    if (conditions === undefined && namespace.status?.phase === 'Terminating') return namespace;
    namespace.status = { ...namespace.status, phase: 'Terminating', conditions: conditions ?? namespace.status?.conditions ?? [] };
    try {
      return await client.update<NamespaceObject>(refs.namespaces, namespace, 'status');
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (!isConflict(error)) throw error;
    }
  }
}

/** Removes the server's own finalizer. If it was the last, the namespace is removed. */
async function finish(client: Client, namespace: NamespaceObject, finalizer: string): Promise<boolean> {
  namespace.spec = { ...namespace.spec, finalizers: (namespace.spec?.finalizers ?? []).filter((one) => one !== finalizer) };
  try {
    await client.update(refs.namespaces, namespace, 'finalize');
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return true;
}
