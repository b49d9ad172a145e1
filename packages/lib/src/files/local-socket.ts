/**
 * Two ends of a connection within this process: what is written at one is read at the other, no faster than it is read. They have
 * the parts of a network socket that HTTP uses, so that a server that listens nowhere can answer.
 */
import { Duplex } from 'node:stream';

export class LocalSocket extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  readonly connecting = false;
  bytesWritten = 0;
  readonly setTimeout = (): this => this;
  private peer: LocalSocket | undefined;
  private resumeWrite: (() => void) | undefined;

  private constructor() {
    super({ allowHalfOpen: true });
  }
  static pair(): [LocalSocket, LocalSocket] {
    const ends: [LocalSocket, LocalSocket] = [new LocalSocket(), new LocalSocket()];
    ends[0].peer = ends[1];
    ends[1].peer = ends[0];
    return ends;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    const { peer } = this;
    if (peer === undefined || peer.destroyed) {
      done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
      return;
    }
    this.bytesWritten += chunk.length;
    if (peer.push(chunk)) done();
    else peer.resumeWrite = done;
  }
  override _read(): void {
    const resume = this.resumeWrite;
    this.resumeWrite = undefined;
    resume?.();
  }
  override _final(done: () => void): void {
    if (this.peer?.destroyed === false) this.peer.push(null);
    done();
  }
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const { peer } = this;
    this.peer = undefined;
    // A writer that waits for this end to read would wait for ever.
    const resume = this.resumeWrite;
    this.resumeWrite = undefined;
    resume?.();
    // An end that was not announced breaks off the other side; one that was leaves it to read the rest.
    if (peer !== undefined && !peer.destroyed && !this.writableFinished) queueMicrotask(() => peer.destroy());
    done(error);
  }

  /** Closes once everything is written. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}
