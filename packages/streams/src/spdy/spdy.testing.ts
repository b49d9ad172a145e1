/** The client end of a SPDY connection within this process. */
import { constants, createDeflate, type Deflate } from 'node:zlib';
import { LocalSocket } from '@plat-dev/lib/files/local-socket';
import { SpdyConnection } from './connection.ts';
import { dictionary, withLength } from './dictionary.ts';
import { controlFrame, FrameType, numbers, parseFrame } from './frames.ts';
import type { SpdyStream } from './stream.ts';

/** Blocks as a client compresses them: in one stream, each flushed. */
export class Blocks {
  private readonly deflate: Deflate = createDeflate({ dictionary, flush: constants.Z_SYNC_FLUSH });
  private chunks: Buffer[] = [];
  constructor() {
    this.deflate.on('data', (chunk: Buffer) => void this.chunks.push(chunk));
  }
  async of(headers: Record<string, string>): Promise<Buffer> {
    const pairs = Object.entries(headers).flatMap(([name, value]) => [withLength(name), withLength(value)]);
    await new Promise<void>((resolve) => this.deflate.write(Buffer.concat([numbers(pairs.length / 2), ...pairs]), () => resolve()));
    const block = Buffer.concat(this.chunks);
    this.chunks = [];
    return block;
  }
}

/** A connection with its client end, and what the client has received so far. `reads`: whether it reads from the beginning. */
export function connected({ reads = true } = {}) {
  const [client, server] = LocalSocket.pair();
  const streams: SpdyStream[] = [];
  let closed = 0;
  const connection = new SpdyConnection(server, Buffer.alloc(0), {
    stream: (stream) => void streams.push(stream),
    close: () => void closed++,
  });
  const received: Buffer[] = [];
  const read = (): void => {
    client.on('data', (chunk: Buffer) => void received.push(chunk));
  };
  if (reads) read();
  const blocks = new Blocks();
  const open = async (id: number, headers: Record<string, string>, flags = 0): Promise<void> => {
    client.write(controlFrame(FrameType.synStream, Buffer.concat([numbers(id, 0), Buffer.from([0, 0]), await blocks.of(headers)]), flags));
  };
  const frames = () => {
    const all = [];
    let rest: Buffer = Buffer.concat(received);
    for (let read = parseFrame(rest); read !== undefined; read = parseFrame(rest)) {
      all.push(read.frame);
      rest = rest.subarray(read.size);
    }
    return all;
  };
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise((resolve) => setImmediate(resolve));
  };
  return { client, server, connection, read, streams, open, frames, until, isClosed: () => closed };
}
