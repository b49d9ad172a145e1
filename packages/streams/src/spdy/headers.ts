/**
 * Header blocks of SPDY/3: pairs of names and values, compressed with a dictionary, in one stream for each direction of a connection.
 * Blocks from here are stored without compression, which every reader understands: they are short.
 */
import { constants, createInflate, type Inflate } from 'node:zlib';
import { DICTIONARY_ID, dictionary, withLength } from './dictionary.ts';

/** Largest block after it is decompressed. */
const BLOCK_LIMIT = 64 * 1024;
const PAIRS_LIMIT = 256;

export type Headers = ReadonlyMap<string, string>;

/** The blocks of one direction, read in their order. */
export class HeaderReader {
  private readonly inflate: Inflate;
  private chunks: Buffer[] = [];
  private size = 0;
  private failure: Error | undefined;

  constructor() {
    this.inflate = createInflate({ dictionary, flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH });
    this.inflate.on('data', (chunk: Buffer) => {
      this.size += chunk.length;
      if (this.size > BLOCK_LIMIT) this.inflate.destroy(new Error('a block of headers is too large'));
      else this.chunks.push(chunk);
    });
    this.inflate.on('error', (error) => {
      this.failure = error;
    });
  }
  /** Rejects if the block is wrong; nothing can be read after that. */
  async read(block: Buffer): Promise<Headers> {
    await new Promise<void>((resolve, reject) => {
      const failed = (error: Error): void => reject(error);
      this.inflate.once('error', failed);
      this.inflate.write(block, (error) => {
        this.inflate.off('error', failed);
        if (error == null) resolve();
        else reject(error);
      });
    });
    if (this.failure !== undefined) throw this.failure;
    const bytes = Buffer.concat(this.chunks);
    this.chunks = [];
    this.size = 0;
    return parsePairs(bytes);
  }
  close(): void {
    this.inflate.destroy();
  }
}

function parsePairs(bytes: Buffer): Headers {
  const headers = new Map<string, string>();
  let at = 0;
  const number = (): number => {
    if (at + 4 > bytes.length) throw new Error('a block of headers breaks off');
    const value = bytes.readUInt32BE(at);
    at += 4;
    return value;
  };
  const text = (): string => {
    const length = number();
    if (at + length > bytes.length) throw new Error('a block of headers breaks off');
    const value = bytes.toString('utf8', at, at + length);
    at += length;
    return value;
  };
  const pairs = number();
  if (pairs > PAIRS_LIMIT) throw new Error('a block has too many headers');
  for (let i = 0; i < pairs; i++) {
    const name = text().toLowerCase();
    headers.set(name, text());
  }
  return headers;
}

/** The blocks that this end sends. */
export class HeaderWriter {
  private isBegun = false;

  write(headers: Headers): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(headers.size);
    const pairs = [...headers].flatMap(([name, value]) => [withLength(name), withLength(value)]);
    // An empty block at the end makes readers hand out what they have.
    const blocks = [storedBlock(Buffer.concat([count, ...pairs])), storedBlock(Buffer.alloc(0))];
    if (this.isBegun) return Buffer.concat(blocks);
    this.isBegun = true;
    const head = Buffer.from([0x78, 0xbb, 0, 0, 0, 0]);
    head.writeUInt32BE(DICTIONARY_ID, 2);
    return Buffer.concat([head, ...blocks]);
  }
}

/** A block of a deflate stream that is not compressed. */
function storedBlock(bytes: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt16LE(bytes.length, 1);
  head.writeUInt16LE(bytes.length ^ 0xffff, 3);
  return Buffer.concat([head, bytes]);
}
