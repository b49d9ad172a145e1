/** A client that speaks the binary form alone: it sends nothing else, accepts nothing else, and fails when it gets something else. */
import { BinaryTypes } from './binary-types.ts';
import type { Client, Loose, OpenAnswer } from './client.ts';
import type { TestServer } from './server.ts';
import { envelope, fieldsOf, openEnvelope } from './wire.ts';

export interface BinaryObject {
  readonly kind: string;
  readonly apiVersion: string;
  /** As JSON would show it, without kind and version. */
  readonly value: Loose;
}
export interface BinaryAnswer extends BinaryObject {
  readonly status: number;
}
export interface BinaryEvent extends BinaryObject {
  readonly type: string;
}

export class BinaryClient {
  readonly types: BinaryTypes;
  private readonly client: Client;
  private readonly mediaType: string;

  constructor(server: TestServer, client: Client = server.admin) {
    this.client = client;
    this.types = new BinaryTypes(server.identity);
    this.mediaType = server.identity.protobufMediaType;
  }

  /** `body` has its kind and version; they say how it is written. */
  async send(method: string, path: string, body?: Loose): Promise<BinaryAnswer> {
    const headers = { accept: this.mediaType, ...(body !== undefined && { 'content-type': this.mediaType }) };
    const answer = await this.client.send(method, path, { headers, ...(body !== undefined && { body: this.write(body) }) });
    if (answer.headers['content-type'] !== this.mediaType)
      throw new Error(`${method} ${path}: ${answer.status} in ${answer.headers['content-type']}: ${answer.text}`);
    return { status: answer.status, ...this.read(answer.bytes) };
  }

  async watch(path: string): Promise<BinaryWatch> {
    const answer = await this.client.open('GET', path, { headers: { accept: this.mediaType } });
    if (answer.status !== 200 || answer.headers['content-type'] !== `${this.mediaType};stream=watch`) {
      answer.destroy();
      throw new Error(`GET ${path}: ${answer.status} in ${answer.headers['content-type']}`);
    }
    return new BinaryWatch(answer, (bytes) => this.read(bytes));
  }

  private write({ kind, apiVersion, ...value }: Loose): Buffer {
    return envelope({ kind, apiVersion, raw: this.types.encode(this.types.typeOf(apiVersion, kind), value) });
  }
  private read(bytes: Buffer): BinaryObject {
    const { kind, apiVersion, raw } = openEnvelope(bytes);
    return { kind, apiVersion, value: this.types.decode(this.types.typeOf(apiVersion, kind), raw) };
  }

  /** An object of either form, so that two are equal when they say the same. */
  plain({ kind, apiVersion, value }: BinaryObject): Loose {
    return { kind, apiVersion, ...this.types.plain(this.types.typeOf(apiVersion, kind), value) };
  }
  plainJson(object: Loose): Loose {
    return this.plain({ kind: object.kind, apiVersion: object.apiVersion, value: object });
  }
}

/** Frames of a binary watch: four bytes of length, then an event around an object in its envelope. */
export class BinaryWatch {
  private readonly answer: OpenAnswer;
  private readonly chunks: AsyncIterator<Buffer>;
  private readonly open: (bytes: Buffer) => BinaryObject;
  private rest: Buffer = Buffer.alloc(0);

  constructor(answer: OpenAnswer, open: (bytes: Buffer) => BinaryObject) {
    this.answer = answer;
    this.chunks = answer.body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    this.open = open;
  }

  /** The next event; undefined when the server has ended the stream. */
  async next(): Promise<BinaryEvent | undefined> {
    for (;;) {
      if (this.rest.length >= 4 && this.rest.length >= 4 + this.rest.readUInt32BE(0)) return this.take();
      const chunk = await this.chunks.next();
      if (chunk.done === true) {
        if (this.rest.length > 0) throw new Error(`the watch ended within an event, after ${this.rest.length} bytes of it`);
        return undefined;
      }
      this.rest = Buffer.concat([this.rest, chunk.value]);
    }
  }
  /** All events up to the first that satisfies the condition, that one included. */
  async until(wanted: (event: BinaryEvent) => boolean): Promise<BinaryEvent[]> {
    const events: BinaryEvent[] = [];
    for (;;) {
      const event = await this.next();
      if (event === undefined) throw new Error(`the watch ended after ${events.length} events: ${events.map(({ type }) => type).join()}`);
      events.push(event);
      if (wanted(event)) return events;
    }
  }
  close(): void {
    this.answer.destroy();
  }

  private take(): BinaryEvent {
    const end = 4 + this.rest.readUInt32BE(0);
    const fields = new Map(fieldsOf(this.rest.subarray(4, end)).map(({ tag, value }) => [tag, value as Buffer]));
    this.rest = this.rest.subarray(end);
    const extension = fieldsOf(fields.get(2) as Buffer);
    return { type: String(fields.get(1)), ...this.open(extension[0]?.value as Buffer) };
  }
}
