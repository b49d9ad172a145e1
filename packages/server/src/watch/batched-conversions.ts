/**
 * Conversion calls for watches. Watchers request one event after another; the requests of one turn of the
 * loop, and those during a call, are converted together in the next call:
 *
 *   idle      no requests                                                   → gathering
 *   gathering until the end of the turn                                     → calling
 *   calling   further requests wait for the next call                       → calling or idle
 *
 * The queue is bounded by the watchers: one that exceeds its buffer ends.
 */
import type { ApiObject } from '@plat-dev/kinds/kind';
import { inNextTurn } from '@plat-dev/lib/next-turn';
import type { Item } from '@plat-dev/storage/item';
import type { Resource } from '../registry/catalog.ts';

/** Maximum objects of one round of calls. */
const MOST = 500;

interface WaitingItem {
  readonly item: Item;
  readonly resolve: (object: ApiObject) => void;
  readonly reject: (error: unknown) => void;
}

export class BatchedConversions {
  private readonly resource: Resource;
  private waitingItems: WaitingItem[] = [];
  private running = false;

  constructor(resource: Resource) {
    this.resource = resource;
  }

  /** The object of an item in the version of the resource. */
  of(item: Item): Promise<ApiObject> {
    return new Promise((resolve, reject) => {
      this.waitingItems.push({ item, resolve, reject });
      if (this.running) return;
      this.running = true;
      inNextTurn(() => void this.run());
    });
  }

  private async run(): Promise<void> {
    while (this.waitingItems.length > 0) {
      const some = this.waitingItems.splice(0, MOST);
      try {
        const objects = await this.resource.versions.readAll(some.map(({ item }) => item));
        some.forEach(({ resolve }, i) => {
          resolve(objects[i] as ApiObject);
        });
      } catch (error) {
        if (some.length === 1) some[0]?.reject(error);
        else await this.oneByOne(some);
      }
    }
    this.running = false;
  }

  /** One object that cannot be converted must not end the watches of others. */
  private async oneByOne(some: readonly WaitingItem[]): Promise<void> {
    for (let from = 0; from < some.length; from += WIDTH) {
      const part = some.slice(from, from + WIDTH);
      await Promise.all(
        part.map(async ({ item, resolve, reject }) => Promise.resolve(this.resource.versions.read(item)).then(resolve, reject)),
      );
    }
  }
}
/** Maximum concurrent calls. */
const WIDTH = 16;

const conversionsByResource = new WeakMap<Resource, BatchedConversions>();
/** Those of a version of a kind, shared by all watches. */
export function conversionsOf(resource: Resource): BatchedConversions {
  let conversions = conversionsByResource.get(resource);
  if (conversions === undefined) {
    conversions = new BatchedConversions(resource);
    conversionsByResource.set(resource, conversions);
  }
  return conversions;
}
