/** A network between a client and a server that can be cut. */
import { connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** Connections that stand. */
  readonly size: number;
  /** Breaks every connection, and new ones as they come. */
  cut(): void;
  /** Lets connections stand but nothing pass. */
  stall(): void;
  mend(): void;
  close(): Promise<void>;
}

export async function startProxy(targetPort: number): Promise<TcpProxy> {
  let state: 'open' | 'cut' | 'stalled' = 'open';
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((client) => {
    if (state === 'cut') return client.destroy();
    const upstream = connect(targetPort, '127.0.0.1');
    const pair = [client, upstream] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [upstream, client] as const]) {
      from.setNoDelay();
      from.pipe(to);
      if (state === 'stalled') from.pause();
      from.on('error', () => {});
      from.on('close', () => {
        pairs.delete(pair);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const destroyAll = () => {
    for (const [client, upstream] of pairs) {
      client.destroy();
      upstream.destroy();
    }
  };
  return {
    port: (server.address() as { port: number }).port,
    get size() {
      return pairs.size;
    },
    cut() {
      state = 'cut';
      destroyAll();
    },
    stall() {
      state = 'stalled';
      for (const pair of pairs) for (const socket of pair) socket.pause();
    },
    mend() {
      state = 'open';
      for (const pair of pairs) for (const socket of pair) socket.resume();
    },
    async close() {
      destroyAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
