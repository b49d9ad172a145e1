/**
 * Bytes that wait for the end of a turn of the event loop, in one piece of memory: frames are written into it where they stand, and
 * it goes out in one write.
 *
 *   const at = outgoing.reserve(13);       // room for a frame
 *   outgoing.bytes.writeUInt32BE(…, at)    // `bytes` may be another buffer after each `reserve`
 *   socket.write(outgoing.take())
 *
 * Bounded by what the callers send in one turn.
 */
const SMALLEST = 16 * 1024;

export class Outgoing {
  bytes: Buffer = Buffer.alloc(0);
  length = 0;

  /** Returns where the reserved bytes begin. */
  reserve(size: number): number {
    const at = this.length;
    if (at + size > this.bytes.length) this.#grow(at + size);
    this.length = at + size;
    return at;
  }

  append(bytes: Buffer): void {
    const at = this.reserve(bytes.length);
    bytes.copy(this.bytes, at);
  }

  /** Gives away everything that was written. */
  take(): Buffer {
    const bytes = this.bytes.subarray(0, this.length);
    // What is left of a large piece serves the next turn.
    this.bytes = this.bytes.subarray(this.length);
    this.length = 0;
    return bytes;
  }

  #grow(neededBytes: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(SMALLEST, 2 * this.length, neededBytes));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }
}
