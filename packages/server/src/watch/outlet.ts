/** The output of a watch. */
import type { Context } from '../context.ts';
import { Response } from '../http1/response.ts';
import { takesFrames } from '../in-process.ts';
import type { Batch } from './batch.ts';

export interface Outlet {
  write(batch: Batch): void;
  /** Bytes that the client has not read yet. */
  waiting(): number;
  /** Called when more may be written. */
  readonly stream: {
    on(event: 'drain', listener: () => void): unknown;
    off(event: 'drain', listener: () => void): unknown;
    readonly writableHighWaterMark: number;
  };
}

/** Called when the head is sent. */
export function outletOf({ res }: Context): Outlet {
  if (takesFrames(res)) return { write: (batch) => res.takeFrames(batch.frames()), waiting: () => 0, stream: res };
  // Not for HTTP/1.0. The chunk is the same for every watcher: all that remains per watcher is the write.
  if (res instanceof Response && res.chunkedEncoding) {
    const { socket } = res;
    return { write: (batch) => void socket.write(batch.chunk), waiting: () => socket.writableLength, stream: socket };
  }
  return {
    write: (batch) => void res.write(batch.bytes),
    // An HTTP/2 response buffers them in its stream.
    waiting: () => res.stream?.writableLength ?? res.writableLength,
    stream: res,
  };
}
