/** Servers on plain connections, and clients that send bytes as they are: for tests of the protocol. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { systemClock } from '@plat-dev/lib/clock';
import { type Http1Options, Http1Server } from './server.ts';

export interface Port {
  readonly port: number;
  readonly http1: Http1Server;
  close(): Promise<void>;
}

export async function openPort(options: Omit<Http1Options, 'clock'> & Partial<Pick<Http1Options, 'clock'>>): Promise<Port> {
  const http1 = new Http1Server({ clock: systemClock, ...options });
  const server = createServer({ noDelay: true }, (socket) => http1.accept(socket));
  await listening(server);
  const close = (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const { socket } of http1.connections) socket.destroy();
    return closed;
  };
  return { port: portOf(server), http1, close };
}

export const listening = (server: Server): Promise<void> => new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
export const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** A client that shows every byte. */
export class RawClient {
  readonly socket: Socket;
  text = '';
  ended = false;
  closed = false;
  private waiting: (() => void)[] = [];

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.setNoDelay(true);
    this.socket.on('data', (chunk) => {
      this.text += chunk.toString('latin1');
      this.wake();
    });
    this.socket.on('end', () => {
      this.ended = true;
      this.wake();
    });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.ended = this.closed = true;
      this.wake();
    });
  }
  private wake(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const go of waiting) go();
  }
  /** Resolves when the bytes have left. */
  send(bytes: string | Buffer): Promise<void> {
    return new Promise((resolve) => this.socket.write(bytes, 'latin1', () => resolve()));
  }
  async until(isSo: (client: this) => boolean): Promise<void> {
    while (!isSo(this)) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
  /** The text of so many responses without a body. */
  async answers(count: number): Promise<string> {
    await this.until(({ text, ended }) => ended || text.split('\r\n\r\n').length > count);
    return this.text;
  }
}

/** Everything that a server sends for these bytes until it closes the connection. */
export async function exchange(port: number, bytes: string): Promise<string> {
  const client = new RawClient(port);
  await client.send(bytes);
  await client.until(({ ended }) => ended);
  client.socket.destroy();
  return client.text;
}
