/**
 * The streams of a command or an attached container, over SPDY or over a WebSocket with channels. Both have the same input, output,
 * errors and a last message that says how it ended.
 */
import type { Duplex } from 'node:stream';
import type { Status } from '@plat-dev/meta/errors';
import { SpdyConnection } from '@plat-dev/streams/spdy/connection';
import type { SpdyStream } from '@plat-dev/streams/spdy/stream';
import type { WebSocket } from 'ws';

export interface StreamsWanted {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}
export interface CommandStreams {
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  /** Calls with what the client sends; without anything at its end. */
  onInput(listener: (chunk: Buffer | undefined) => void): void;
  /** Whether the client has to wait before it sends more. */
  hold(on: boolean): void;
  /** Resolves when the client can take more. */
  write(to: 'out' | 'err', bytes: Buffer): Promise<void>;
  /** Reports how the command ended, and closes. */
  finish(status: Status): void;
}

/** Bytes of input that wait for a command that does not read; more end the connection. */
const INPUT_LIMIT = 1 << 20;

/** Input that arrives before anything reads it. */
class Input {
  private listener: ((chunk: Buffer | undefined) => void) | undefined;
  private early: (Buffer | undefined)[] = [];
  private size = 0;

  /** Returns false if there is too much of it. */
  take(chunk: Buffer | undefined): boolean {
    if (this.listener !== undefined) {
      this.listener(chunk);
      return true;
    }
    this.size += chunk?.length ?? 0;
    this.early.push(chunk);
    return this.size <= INPUT_LIMIT;
  }
  listen(listener: (chunk: Buffer | undefined) => void): void {
    this.listener = listener;
    for (const chunk of this.early) listener(chunk);
    this.early = [];
  }
}

/** Time that a client has to open its streams. */
export const STREAMS_MS = 30_000;

/** Resolves when the client has opened all streams that it announced; undefined if it does not. */
export function spdyStreams(
  socket: Duplex,
  head: Buffer,
  wantedStreams: StreamsWanted,
  after: (call: () => void) => () => void,
): Promise<CommandStreams | undefined> {
  const names = ['error', ...(wantedStreams.stdin ? ['stdin'] : []), ...(wantedStreams.stdout ? ['stdout'] : [])];
  if (wantedStreams.stderr && !wantedStreams.tty) names.push('stderr');
  if (wantedStreams.tty) names.push('resize');
  const open = new Map<string, SpdyStream>();
  const clientGone = new AbortController();
  return new Promise((resolve) => {
    const cancel = after(() => {
      connection.close();
      resolve(undefined);
    });
    const connection = new SpdyConnection(socket, head, {
      stream: (stream) => {
        const name = stream.headers.get('streamtype') ?? '';
        if (!names.includes(name) || open.has(name)) {
          stream.reset();
          return;
        }
        open.set(name, stream);
        if (open.size < names.length) return;
        cancel();
        resolve(new SpdyStreams(connection, open, clientGone.signal));
      },
      close: () => {
        cancel();
        clientGone.abort();
        resolve(undefined);
      },
    });
  });
}

class SpdyStreams implements CommandStreams {
  readonly signal: AbortSignal;
  private readonly connection: SpdyConnection;
  private readonly open: ReadonlyMap<string, SpdyStream>;

  constructor(connection: SpdyConnection, open: ReadonlyMap<string, SpdyStream>, signal: AbortSignal) {
    this.connection = connection;
    this.open = open;
    this.signal = signal;
    // Sizes of terminals are of no interest here; what nobody reads would stop the connection.
    open.get('resize')?.resume();
  }
  onInput(listener: (chunk: Buffer | undefined) => void): void {
    const stdin = this.open.get('stdin');
    if (stdin === undefined) {
      listener(undefined);
      return;
    }
    stdin.on('data', (chunk: Buffer) => listener(chunk));
    stdin.once('end', () => listener(undefined));
  }
  hold(on: boolean): void {
    const stdin = this.open.get('stdin');
    if (on) stdin?.pause();
    else stdin?.resume();
  }
  write(to: 'out' | 'err', bytes: Buffer): Promise<void> {
    const stream = this.open.get(to === 'err' ? 'stderr' : 'stdout') ?? this.open.get('stdout');
    if (stream === undefined || stream.destroyed) return Promise.resolve();
    return new Promise((resolve) => stream.write(bytes, () => resolve()));
  }
  finish(status: Status): void {
    const error = this.open.get('error');
    for (const name of ['stdout', 'stderr']) this.open.get(name)?.end();
    if (error === undefined || error.destroyed) this.connection.close();
    else error.end(JSON.stringify(status), () => this.connection.close());
  }
}

const Channel = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

/** How a WebSocket carries channels, by its subprotocol: `v4.channel.k8s.io` or `v4.base64.channel.k8s.io`. */
export interface ChannelProtocol {
  readonly name: string;
  readonly base64: boolean;
  /** The last message is a Status; older clients get a plain text. */
  readonly structured: boolean;
}
const protocolPattern = /^(?:(v[45])\.)?(base64\.)?channel\./;

/** The best of the subprotocols that a client offers; undefined if it has none of these. */
export function channelProtocol(offered: string | undefined, suffixes: readonly string[]): ChannelProtocol | undefined {
  if (offered === undefined) return { name: '', base64: false, structured: false };
  const names = offered.split(',').map((name) => name.trim());
  const candidates = names.flatMap((name) => {
    const match = protocolPattern.exec(name);
    const isKnown = match !== null && suffixes.includes(name.slice(match[0].length));
    return isKnown ? [{ name, base64: match[2] !== undefined, structured: match[1] !== undefined }] : [];
  });
  return candidates.find(({ structured }) => structured) ?? candidates[0];
}

export class SocketStreams implements CommandStreams {
  readonly signal: AbortSignal;
  private readonly socket: WebSocket;
  private readonly protocol: ChannelProtocol;
  private readonly input = new Input();

  constructor(socket: WebSocket, protocol: ChannelProtocol, wantedStreams: StreamsWanted) {
    this.socket = socket;
    this.protocol = protocol;
    const clientGone = new AbortController();
    this.signal = clientGone.signal;
    if (!wantedStreams.stdin) this.input.take(undefined);
    socket.on('message', (payload) => {
      const [channel, bytes] = decoded(payload as Buffer, protocol);
      if (!wantedStreams.stdin) return;
      // Newer clients report the end of their input.
      const ends = channel === Channel.close && bytes[0] === Channel.stdin;
      if ((channel === Channel.stdin || ends) && !this.input.take(ends ? undefined : bytes)) socket.close(1009);
    });
    socket.once('close', () => clientGone.abort());
  }
  onInput(listener: (chunk: Buffer | undefined) => void): void {
    this.input.listen(listener);
  }
  hold(on: boolean): void {
    if (on) this.socket.pause();
    else this.socket.resume();
  }
  write(to: 'out' | 'err', bytes: Buffer): Promise<void> {
    return new Promise((resolve) => this.send(to === 'err' ? Channel.stderr : Channel.stdout, bytes, resolve));
  }
  finish(status: Status): void {
    const { structured } = this.protocol;
    const text = structured ? JSON.stringify(status) : status.status === 'Success' ? '' : (status.message ?? '');
    if (text !== '') this.send(Channel.error, Buffer.from(text));
    this.socket.close(1000);
  }
  private send(channel: number, bytes: Buffer, done?: () => void): void {
    this.socket.send(encoded(channel, bytes, this.protocol), { binary: !this.protocol.base64 }, done);
  }
}

export function decoded(payload: Buffer, { base64 }: ChannelProtocol): [number, Buffer] {
  const first = payload[0] ?? 0;
  if (!base64) return [first, payload.subarray(1)];
  return [first - 0x30, Buffer.from(payload.toString('latin1', 1), 'base64')];
}
export function encoded(channel: number, bytes: Buffer, { base64 }: ChannelProtocol): Buffer {
  if (!base64) return Buffer.concat([Buffer.from([channel]), bytes]);
  return Buffer.from(`${channel}${bytes.toString('base64')}`, 'latin1');
}
