/**
 * The frames that wait for a watcher, in order, written in one piece. Watchers with the same pending frames share the
 * batch, so that its bytes are joined once for all of them, whatever their selectors:
 *
 *   const empty = new Batch();
 *   empty.and(a).and(b) === empty.and(a).and(b)      // and so is its chunk
 */

/** One event in one representation, encoded on first use. */
export class Frame {
  readonly type: string;
  /** The object of the event, in any form: to inspect it, and as a measure of the frame's size. */
  readonly source: Buffer;
  /** While something is awaited before it can be encoded; never rejects. */
  ready: Promise<void> | undefined;
  /** The event as parsed, for receivers in this process, which share it. */
  parsed: unknown;
  /** The object as it was written, if that is still known, for receivers in this process. */
  writersObject: (() => unknown) | undefined;
  /** Why it can never be encoded. */
  fault: unknown;
  private encode: (() => Buffer) | undefined;
  private encoded: Buffer | undefined;

  constructor(type: string, source: Buffer, encode: () => Buffer) {
    this.type = type;
    this.source = source;
    this.encode = encode;
  }
  /** A frame that is not ready yet. */
  static later<T>(type: string, source: Buffer, pending: Promise<T>, encode: (value: T) => Buffer): Frame {
    let value: T | undefined;
    const frame = new Frame(type, source, () => encode(value as T));
    frame.ready = pending.then(
      (awaitedValue) => {
        value = awaitedValue;
        frame.ready = undefined;
      },
      (error: unknown) => {
        frame.fault = error ?? new Error('it never came');
        frame.ready = undefined;
      },
    );
    return frame;
  }
  get bytes(): Buffer {
    if (this.encoded === undefined) {
      this.encoded = (this.encode as () => Buffer)();
      this.encode = undefined;
    }
    return this.encoded;
  }
}

const LINE_END = Buffer.from('\r\n');

export class Batch {
  /** Its approximate size in bytes. */
  readonly size: number;
  private readonly previous: Batch | undefined;
  private readonly last: Frame | undefined;
  /** Batches with one frame more. Nearly always there is but one. */
  private next: Batch | undefined;
  private others: Map<Frame, Batch> | undefined;
  private whole: Buffer | undefined;
  /** Where the frames begin and end in `whole`. */
  private start = 0;
  private end = 0;

  constructor(previous?: Batch, last?: Frame) {
    this.previous = previous;
    this.last = last;
    this.size = previous === undefined ? 0 : previous.size + (last as Frame).source.length;
  }

  and(frame: Frame): Batch {
    if (this.next === undefined) {
      this.next = new Batch(this, frame);
      return this.next;
    }
    if (this.next.last === frame) return this.next;
    this.others ??= new Map();
    let other = this.others.get(frame);
    if (other === undefined) {
      other = new Batch(this, frame);
      this.others.set(frame, other);
    }
    return other;
  }

  frames(): Frame[] {
    const frames: Frame[] = [];
    for (let batch: Batch | undefined = this; batch.last !== undefined; batch = batch.previous as Batch) frames.push(batch.last);
    return frames.reverse();
  }

  /** The joined frames. */
  get bytes(): Buffer {
    const whole = this.chunk;
    return whole.subarray(this.start, this.end);
  }

  /** The same as a chunk of HTTP/1.1: their length, the frames, CRLF. */
  get chunk(): Buffer {
    if (this.whole === undefined) {
      const parts = this.frames().map((frame) => frame.bytes);
      const length = parts.reduce((sum, part) => sum + part.length, 0);
      const head = Buffer.from(`${length.toString(16)}\r\n`, 'latin1');
      this.start = head.length;
      this.end = head.length + length;
      this.whole = Buffer.concat([head, ...parts, LINE_END], this.end + LINE_END.length);
    }
    return this.whole;
  }
}
