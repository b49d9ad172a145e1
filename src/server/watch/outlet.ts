/** The output of a watch. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Context } from '../context.ts';
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
export function outletOf({ res, http2 }: Context): Outlet {
  if (takesFrames(res)) return { write: (batch) => res.takeFrames(batch.frames()), waiting: () => 0, stream: res };
  const socket = http2 ? undefined : connectionOf(res as ServerResponse);
  // The chunk is the same for every watcher: all that remains per watcher is the write.
  if (socket !== undefined)
    return { write: (batch) => void socket.write(batch.chunk), waiting: () => socket.writableLength, stream: socket };
  return {
    write: (batch) => void (res as NodeJS.WritableStream).write(batch.bytes),
    // An HTTP/2 response buffers them in its stream.
    waiting: () => ('stream' in res ? (res.stream?.writableLength ?? 0) : res.writableLength),
    stream: res,
  };
}

/** The connection, if chunks can follow the head there: not for HTTP/1.0, nor while an earlier response is not finished. */
function connectionOf(res: ServerResponse): Socket | undefined {
  const { socket } = res;
  if (socket === null || !res.chunkedEncoding || res.writableLength !== socket.writableLength) return undefined;
  return socket;
}
