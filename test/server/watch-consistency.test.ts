/** Whatever is written and however often a watcher loses its connection: what it has pieced together is what there is. */

import { expect, test } from 'vitest';
import fc, { rounds } from '../../packages/lib/src/testing/fast-check.testing.ts';
import type { Client, Loose } from '../support/server.ts';
import { onStores } from '../support/stores.ts';
import type { WatchEvent } from '../support/watch.ts';

interface Write {
  readonly name: string;
  readonly do: 'put' | 'delete';
  readonly color: string;
}
const write: fc.Arbitrary<Write> = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  do: fc.constantFrom('put' as const, 'put' as const, 'delete' as const),
  color: fc.constantFrom('red', 'blue'),
});

async function apply(admin: Client, path: string, { name, do: what, color }: Write, n: number): Promise<void> {
  if (what === 'delete') {
    await admin.delete(`${path}/${name}`);
    return;
  }
  const metadata = { name, labels: { color }, annotations: { n: String(n) } };
  const { status } = await admin.patch(`${path}/${name}`, { metadata });
  if (status === 404) await admin.post(path, { metadata });
}

/** A client that lists, watches, and resumes after each time it was cut off. */
class Follower {
  readonly state = new Map<string, string>();
  /** Events that cannot follow what came before. */
  readonly wrong: string[] = [];
  private readonly admin: Client;
  private readonly path: string;
  private readonly selector: string;
  private version = '';
  private done = false;

  constructor(admin: Client, path: string, selector: string) {
    this.admin = admin;
    this.path = path;
    this.selector = `labelSelector=${encodeURIComponent(selector)}`;
  }
  list(): Promise<Loose> {
    return this.admin.ok('GET', `${this.path}?${this.selector}`);
  }
  async begin(): Promise<void> {
    const { items, metadata } = await this.list();
    for (const item of items) this.state.set(item.metadata.name, item.metadata.resourceVersion);
    this.version = metadata.resourceVersion;
  }
  /** Takes so many events, fewer when the last of all has come. */
  async follow(most: number): Promise<void> {
    if (this.done) return;
    const watch = await this.admin.watch(`${this.path}?watch=1&resourceVersion=${this.version}&${this.selector}`);
    for (let seen = 0; seen < most && !this.done; seen++) this.take(await watch.next());
    watch.close();
  }
  private take({ type, object }: WatchEvent): void {
    const { name, resourceVersion } = object.metadata;
    const known = this.state.has(name);
    if (Number(resourceVersion) <= Number(this.version)) this.wrong.push(`${type} ${name} ${resourceVersion} after ${this.version}`);
    if ((type === 'ADDED') === known) this.wrong.push(`${type} ${name}, which was ${known ? '' : 'not '}there`);
    this.version = resourceVersion;
    if (type === 'DELETED') this.state.delete(name);
    else this.state.set(name, resourceVersion);
    if (name === 'last') this.done = true;
  }
}

onStores(['memory', 'lmdb', 'etcd'], {}, (server) => {
  test('the state of every follower is the state of the server', async () => {
    const { admin } = server();
    const writes = fc.array(write, { minLength: 5, maxLength: 40 });
    const cuts = fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(writes, cuts, async (all, pieces) => {
        const path = `/api/v1/namespaces/${await server().namespace()}/secrets`;
        const followers = ['', 'color=red'].map((selector) => new Follower(admin, path, selector));
        const half = all.length >> 1;
        for (let n = 0; n < half; n++) await apply(admin, path, all[n] as Write, n);
        await Promise.all(followers.map((follower) => follower.begin()));
        let next = half;
        const writer = async (): Promise<void> => {
          while (next < all.length) {
            const n = next++;
            await apply(admin, path, all[n] as Write, n);
          }
        };
        const writing = Promise.all([writer(), writer(), writer()]);
        const following = followers.map(async (follower) => {
          for (const most of pieces) await follower.follow(most);
          await follower.follow(Number.POSITIVE_INFINITY);
        });
        await writing;
        // What comes last matches every selector, so that all know when they have seen everything.
        await admin.ok('POST', path, { metadata: { name: 'last', labels: { color: 'red' } } });
        await Promise.all(following);
        for (const follower of followers) {
          const expected = (await follower.list()).items.map((item: Loose) => [item.metadata.name, item.metadata.resourceVersion]);
          expect(follower.wrong).toEqual([]);
          expect([...follower.state].sort()).toEqual(expected);
        }
      }),
      { numRuns: rounds(25) },
    );
  });
});
