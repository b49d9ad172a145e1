/**
 * Limits on connections: in all, from one address, and in a handshake. A connection costs memory before its client is
 * authenticated.
 *
 *   in all, from one address    a further one is closed on arrival
 *   in a handshake              a further one closes the oldest: a handshake takes milliseconds, and
 *                               a client that keeps many open only loses its own
 */
import type { Socket } from 'node:net';

export interface ConnectionLimits {
  /** 0 is no limit. */
  readonly total: number;
  readonly perAddress: number;
  readonly handshakes?: number;
}

/** Maximum concurrent handshakes. */
const HANDSHAKE_LIMIT = 1000;

type Peer = Pick<Socket, 'remoteAddress' | 'remotePort' | 'once' | 'destroy'>;

export class Connections {
  readonly refused = { total: 0, address: 0, handshakes: 0 };
  private readonly limits: ConnectionLimits;
  private readonly handshakes: number;
  /** Address and port of open connections. */
  private readonly peers = new Set<string>();
  private readonly byAddress = new Map<string, number>();
  /** Oldest first. */
  private readonly shaking = new Map<string, Peer>();

  constructor(limits: ConnectionLimits) {
    this.limits = limits;
    this.handshakes = limits.handshakes ?? HANDSHAKE_LIMIT;
  }

  get open(): number {
    return this.peers.size;
  }

  /** False: close it. */
  admit(socket: Peer, handshake: boolean): boolean {
    const { remoteAddress: address } = socket;
    // It is closed already.
    if (address === undefined) return false;
    const { total, perAddress } = this.limits;
    if (total > 0 && this.peers.size >= total) return this.refuse('total');
    const same = this.byAddress.get(address) ?? 0;
    if (perAddress > 0 && same >= perAddress) return this.refuse('address');
    const peer = nameOf(socket);
    this.peers.add(peer);
    this.byAddress.set(address, same + 1);
    socket.once('close', () => this.closed(peer, address));
    if (handshake) this.begin(peer, socket);
    return true;
  }

  /** The handshake is done. The socket is another one, of the same peer. */
  ready(socket: Peer): void {
    const peer = nameOf(socket);
    const { remoteAddress: address = '' } = socket;
    this.shaking.delete(peer);
    socket.once('close', () => this.closed(peer, address));
  }

  private begin(peer: string, socket: Peer): void {
    if (this.shaking.size >= this.handshakes) {
      const [oldest] = this.shaking;
      if (oldest !== undefined) {
        this.refused.handshakes++;
        this.shaking.delete(oldest[0]);
        oldest[1].destroy();
      }
    }
    this.shaking.set(peer, socket);
  }
  private refuse(bound: 'total' | 'address'): false {
    this.refused[bound]++;
    return false;
  }
  /** Either of the two sockets of a connection reports its end. */
  private closed(peer: string, address: string): void {
    if (!this.peers.delete(peer)) return;
    this.shaking.delete(peer);
    const remaining = (this.byAddress.get(address) ?? 1) - 1;
    if (remaining === 0) this.byAddress.delete(address);
    else this.byAddress.set(address, remaining);
  }
}

const nameOf = ({ remoteAddress, remotePort }: Peer): string => `${remoteAddress} ${remotePort}`;
