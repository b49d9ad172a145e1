/**
 * What is given out of some ranges, as the store knows it: one key for each member in use, whose value names the object
 * that holds it. Such a key is put with the object and only where there is none, so that no two objects, requests or
 * servers can hold the same member; it goes in the commit in which its object goes.
 *
 *   alloc/ips/10.0.0.7    {"uid":"…"}        alloc/ports/30080    {"uid":"…"}
 */
import type { Range } from '@plat-dev/meta/ranges';
import { parseExact } from '@plat-dev/schema/json/parse';
import type { Cache } from '@plat-dev/storage/cache';
import type { Collection } from '@plat-dev/storage/collection';
import type { Operation } from '@plat-dev/storage/engine';
import { type Item, storedValue } from '@plat-dev/storage/item';
import { Pool } from './pool.ts';

/** Nobody watches these keys: their recent changes are of no use. */
const EVENT_LIMIT = 16;
const noFacts = { labels: undefined, fields: undefined };

export class AllocationTable<R extends Range = Range> {
  private allRanges: readonly R[];
  private pools: ReadonlyMap<R, Pool>;
  private readonly collection: Collection;
  private readonly bands: { reserved(range: R): number };

  /**
   * Must be made before the cache starts. `name` is the middle of the keys: `ips`. `reserved`: how many members at the start of
   * a range are left for those who name them.
   */
  constructor(cache: Cache, name: string, ranges: readonly R[], reserved: (range: R) => number = () => 0) {
    this.allRanges = ranges;
    this.bands = { reserved };
    this.pools = new Map(ranges.map((range) => [range, this.newPool(range)]));
    this.collection = cache.declare({ prefix: `alloc/${name}/`, facts: () => noFacts, eventLimit: EVENT_LIMIT });
    this.collection.listen(({ item, type }) => this.mark(item.key, type === 'put'));
  }
  private newPool(range: R): Pool {
    return new Pool(range.size, this.bands.reserved(range));
  }

  get ranges(): readonly R[] {
    return this.allRanges;
  }
  /** Gives out members of these ranges from now on. Ranges that stay keep their pools; members of others stay in use. */
  follow(ranges: readonly R[]): void {
    const fresh = ranges.filter((range) => !this.pools.has(range)).map((range): [R, Pool] => [range, this.newPool(range)]);
    this.allRanges = ranges;
    this.pools = new Map([...[...this.pools].filter(([range]) => ranges.includes(range)), ...fresh]);
    this.markAll(fresh);
  }
  /** Takes in what the cache has loaded. */
  loaded(): void {
    this.markAll(this.pools);
  }
  private markAll(pools: Iterable<[R, Pool]>): void {
    const marked = [...pools];
    if (marked.length === 0) return;
    for (const item of this.collection.items.all()) this.markIn(marked, item.key, true);
    for (const key of this.collection.unreadable?.keys() ?? []) this.markIn(marked, key, true);
  }
  private mark(member: string, used: boolean): void {
    this.markIn(this.pools, member, used);
  }
  private markIn(pools: Iterable<[R, Pool]>, member: string, used: boolean): void {
    for (const [range, pool] of pools) {
      const index = range.indexOf(member);
      if (index !== undefined) pool.set(index, used);
    }
  }

  isUsed(member: string): boolean {
    return this.collection.items.get(member) !== undefined || this.collection.unreadable?.has(member) === true;
  }
  /** The uid of the object that holds a member. */
  holder(member: string): string | undefined {
    const item = this.collection.items.get(member);
    return item === undefined ? undefined : holderOf(item);
  }
  /** All members in use, each with its holder. */
  *entries(): Iterable<{ member: string; uid: string }> {
    for (const item of this.collection.items.all()) yield { member: item.key, uid: holderOf(item) };
  }
  /** Members whose key cannot be read: they are in use by nobody knows whom. */
  unreadable(): string[] {
    return [...(this.collection.unreadable?.keys() ?? [])];
  }
  /** The operation that makes a key readable that is not: it says who holds the member, or goes where nobody does. */
  repair(member: string, uid: string | undefined): Operation {
    const key = this.collection.prefix + member;
    const expect = this.collection.unreadable?.get(member)?.revision ?? 0;
    return uid === undefined ? { type: 'delete', key, expect } : { type: 'put', key, value: storedValue(`{"uid":"${uid}"}`, uid), expect };
  }
  /** A member that is free, or undefined when the range is used up. */
  propose(range: R, randomBelow: (limit: number) => number, now: number): string | undefined {
    const index = this.pools.get(range)?.propose(randomBelow, now);
    return index === undefined ? undefined : range.at(index);
  }
  usedIn(range: R): number {
    return this.pools.get(range)?.used ?? 0;
  }

  /** The operation that gives a member to an object; it fails if another object holds it. */
  take(member: string, uid: string): Operation {
    return { type: 'put', key: this.collection.prefix + member, value: storedValue(`{"uid":"${uid}"}`, uid), expect: 0 };
  }
  /** The operation that takes a member back, if the object holds it. */
  free(member: string, uid: string): Operation | undefined {
    const item = this.collection.items.get(member);
    if (item === undefined || holderOf(item) !== uid) return undefined;
    return { type: 'delete', key: this.collection.prefix + member, expect: item.revision };
  }
}

function holderOf(item: Item): string {
  item.parsed ??= parseExact(item.bytes.toString());
  return (item.parsed as { uid: string }).uid;
}
