/**
 * Writes at one server are visible to consistent reads at every other one at once.
 *
 * Each client writes objects of its own, at one server after another, and after each write reads the object and the list of its
 * objects at all other servers. Every answer must be the state after that write: the same objects with the same versions.
 *
 *   client 0:  POST at 0 → get, list at 1 and 2     PATCH at 1 → get, list at 0 and 2     DELETE at 2 → get, list at 0 and 1
 *
 * The short form is test/server/several-servers.test.ts, the long one `node bench/servers.mjs`.
 */
import type { Loose } from './client.ts';

export interface Reply {
  readonly status: number;
  readonly json: Loose;
}

/** Sends a request to one of the servers, by its index. */
export type Send = (server: number, method: string, path: string, body?: unknown) => Promise<Reply>;

export interface VisibleWritesOptions {
  readonly servers: number;
  /** Path of the config maps of a namespace in which nothing else writes. */
  readonly path: string;
  /** Writes of all clients together. */
  readonly writes: number;
  readonly clients: number;
  /** Added to the query of each read; empty for consistent ones. */
  readonly readQuery?: string;
}

export interface VisibleWrites {
  readonly writes: number;
  readonly reads: number;
  readonly staleReads: number;
  /** The first few stale reads, each with what was expected. */
  readonly examples: readonly string[];
}

/** Objects that a client keeps; the oldest is deleted when there are more. */
const KEPT = 4;
const EXAMPLES = 10;

export async function checkVisibleWrites(send: Send, options: VisibleWritesOptions): Promise<VisibleWrites> {
  const { servers, path, writes, clients, readQuery = '' } = options;
  let left = writes;
  let done = 0;
  let reads = 0;
  let staleReads = 0;
  const examples: string[] = [];

  const expectRead = (what: string, found: string, expected: string): void => {
    reads++;
    if (found === expected) return;
    staleReads++;
    if (examples.length < EXAMPLES) examples.push(`${what}: ${found} instead of ${expected}`);
  };

  const run = async (client: number): Promise<void> => {
    /** Version by name, in the order in which the objects were created, which is that of their names. */
    const state = new Map<string, string>();
    let turn = client;
    const write = async (method: string, name: string, body?: unknown): Promise<void> => {
      left--;
      const at = turn++ % servers;
      const target = method === 'POST' ? path : `${path}/${name}`;
      const { status, json } = await send(at, method, target, body);
      if (status >= 300) throw new Error(`${method} ${target} at server ${at}: ${status} ${json.message}`);
      done++;
      if (method === 'DELETE') state.delete(name);
      else state.set(name, json.metadata.resourceVersion);
      const others = Array.from({ length: servers }, (_, index) => index).filter((index) => index !== at);
      await Promise.all(others.flatMap((index) => [readOne(index, name), readAll(index)]));
    };
    const readOne = async (index: number, name: string): Promise<void> => {
      const { status, json } = await send(index, 'GET', `${path}/${name}?${readQuery}`);
      const found = status === 200 ? json.metadata.resourceVersion : String(status);
      expectRead(`get ${name} at server ${index}`, found, state.get(name) ?? '404');
    };
    const readAll = async (index: number): Promise<void> => {
      const { status, json } = await send(index, 'GET', `${path}?labelSelector=client%3Dc${client}&${readQuery}`);
      const found = status === 200 ? json.items.map((item: Loose) => `${item.metadata.name}=${item.metadata.resourceVersion}`) : [status];
      const expected = Array.from(state, ([name, version]) => `${name}=${version}`);
      expectRead(`list of client ${client} at server ${index}`, found.join(), expected.join());
    };
    for (let serial = 0; left > 0; serial++) {
      const name = `c${client}-${String(serial).padStart(6, '0')}`;
      await write('POST', name, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { client: `c${client}` } } });
      if (left > 0) await write('PATCH', name, { data: { changed: 'yes' } });
      if (left > 0 && state.size > KEPT) await write('DELETE', state.keys().next().value as string);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, client) => run(client)));
  return { writes: done, reads, staleReads, examples };
}
