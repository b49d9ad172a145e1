/** The network between members of a cluster on one machine: every pair, in each direction, can be cut or stalled by itself. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';

export type Link = 'open' | 'cut' | 'stalled';

/** All members are reached under their proxy's port; who calls is found by the socket that the calling process holds. */
export class PeerNetwork {
  /** Process of a member, asked when a connection comes. */
  readonly #pid: (member: number) => number | undefined;
  readonly #links = new Map<string, Link>();
  readonly #servers: Server[] = [];
  readonly #connections = new Set<{ from: number; to: number; sockets: readonly [Socket, Socket] }>();

  constructor(pid: (member: number) => number | undefined) {
    this.#pid = pid;
  }

  /** Proxies for members that listen on these ports; answers the ports of the proxies. */
  start(ports: readonly number[]): Promise<number[]> {
    return Promise.all(ports.map((port, member) => this.#listen(port, member)));
  }

  set(from: number, to: number, link: Link): void {
    this.#links.set(`${from}-${to}`, link);
    for (const connection of this.#connections) {
      if (connection.from !== from || connection.to !== to) continue;
      for (const socket of connection.sockets) {
        if (link === 'cut') socket.destroy();
        else if (link === 'stalled') socket.pause();
        else socket.resume();
      }
    }
  }
  /** All links of a member, or those in one direction. */
  isolate(member: number, members: number, link: Link, direction: 'both' | 'in' | 'out' = 'both'): void {
    for (let other = 0; other < members; other++) {
      if (other === member) continue;
      if (direction !== 'in') this.set(member, other, link);
      if (direction !== 'out') this.set(other, member, link);
    }
  }
  close(): void {
    for (const { sockets } of this.#connections) for (const socket of sockets) socket.destroy();
    for (const server of this.#servers) server.close();
  }

  #listen(port: number, to: number): Promise<number> {
    const server = createServer((incoming) => this.#accept(incoming, to, port));
    this.#servers.push(server);
    return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)));
  }

  #accept(incoming: Socket, to: number, port: number): void {
    incoming.on('error', () => {});
    const from = this.#caller(incoming.remotePort as number);
    const link = this.#links.get(`${from}-${to}`) ?? 'open';
    if (link === 'cut') {
      incoming.destroy();
      return;
    }
    const outgoing = connect(port, '127.0.0.1');
    const connection = { from, to, sockets: [incoming, outgoing] as const };
    this.#connections.add(connection);
    for (const [one, other] of [connection.sockets, [outgoing, incoming] as const]) {
      one.setNoDelay();
      one.pipe(other);
      if (link === 'stalled') one.pause();
      one.on('error', () => {});
      one.on('close', () => {
        this.#connections.delete(connection);
        other.destroy();
      });
    }
  }

  /** The member whose process holds the socket with this local port; -1 when it is none. */
  #caller(port: number): number {
    const hex = port.toString(16).toUpperCase().padStart(4, '0');
    const line = readFileSync('/proc/net/tcp', 'utf8')
      .split('\n')
      .map((one) => one.trim().split(/\s+/))
      .find((fields) => fields[1]?.endsWith(`:${hex}`));
    const wanted = `socket:[${line?.[9]}]`;
    for (let member = 0; member < this.#servers.length; member++) {
      const pid = this.#pid(member);
      if (pid !== undefined && holds(pid, wanted)) return member;
    }
    return -1;
  }
}

function holds(pid: number, socket: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((descriptor) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${descriptor}`) === socket;
      } catch {
        return false;
      }
    });
  } catch {
    return false;
  }
}
