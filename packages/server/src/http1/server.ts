/** What the connections of HTTP/1.1 of one port share: the handler, the date, their deadlines and their end. */
import type { Socket } from 'node:net';
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import type { Handle, UpgradeHandle } from '../tunnels/upgrade.ts';
import { Connection } from './connection.ts';

/** How often deadlines of connections are checked, which is also their unit. */
const TICK_MS = 1000;

export interface Http1Options {
  readonly handle: Handle;
  /** Gets requests that ask to switch protocols. Absent: they are answered like all others. */
  readonly upgrade?: UpgradeHandle | undefined;
  readonly clock: Clock;
}

export class Http1Server {
  readonly handle: Handle;
  readonly upgrade: UpgradeHandle;
  readonly connections = new Set<Connection>();
  /** No connection takes another request. */
  closing = false;
  /** Seconds that there were connections. */
  tick = 0;
  private readonly clock: Clock;
  /** Undefined without connections. */
  private stopTicking: Cancel | undefined;
  private second = 0;
  private dateHeader = '';

  constructor({ handle, upgrade, clock }: Http1Options) {
    this.handle = handle;
    this.upgrade = upgrade ?? handle;
    this.clock = clock;
  }

  accept(socket: Socket): void {
    if (this.closing || socket.destroyed) {
      socket.destroy();
      return;
    }
    this.connections.add(new Connection(this, socket));
    this.stopTicking ??= this.clock.every(TICK_MS, () => {
      this.tick++;
      for (const connection of this.connections) if (connection.deadline <= this.tick) connection.expire();
    });
  }
  /** The connection is closed. */
  forget(connection: Connection): void {
    this.connections.delete(connection);
    if (this.connections.size > 0) return;
    this.stopTicking?.();
    this.stopTicking = undefined;
  }

  /** The Date header of a response. */
  date(): string {
    const second = Math.floor(this.clock.now() / 1000);
    if (second !== this.second) {
      this.second = second;
      this.dateHeader = `Date: ${new Date(second * 1000).toUTCString()}\r\n`;
    }
    return this.dateHeader;
  }

  /** Connections without a request end at once, the others with their response. */
  close(): void {
    this.closing = true;
    for (const connection of this.connections) connection.endIfIdle();
  }
}
