/** A body that is sent in slices, each when the client has read the one before: no response takes much memory or blocks the event loop. */
import { createGzip } from 'node:zlib';
import { nextTurn } from '@plat-dev/lib/next-turn';
import type { Context } from '../context.ts';
import { takesFrames } from '../in-process.ts';
import { head, wantsGzip } from './respond.ts';

export interface BodyStream {
  /** The client disconnected, or the request timed out. */
  readonly isClosed: boolean;
  /** Resolves when more may be sent; `onTaken` is called when the bytes are no longer needed. Even for a client that reads everything at once other work runs between slices. */
  put(bytes: Buffer, onTaken?: () => void): Promise<void>;
  end(bytes: Buffer): void;
}

/** Sends the head of the response. `length`: bytes of the body, if known. */
export function openBody(ctx: Context, type: string, length?: number): BodyStream {
  const { res } = ctx;
  // Bodies in slices are not recorded.
  if (ctx.audit?.wantsResponse === true) ctx.audit.truncated();
  const packed = wantsGzip(ctx);
  const headers = ['Content-Type', type];
  if (packed) headers.push('Content-Encoding', 'gzip', 'Vary', 'Accept-Encoding');
  else if (length !== undefined) headers.push('Content-Length', String(length));
  head(ctx, 200, headers);
  const out = packed ? createGzip({ level: 1 }) : res;
  if (out !== res) (out as NodeJS.ReadWriteStream).pipe(res as unknown as NodeJS.WritableStream);
  // A response over HTTP/2 need not say whether it is destroyed: unknown would count as ended once its head is sent.
  let isClosed = res.destroyed === true;
  res.once('close', () => {
    isClosed = true;
  });
  return {
    get isClosed() {
      return isClosed;
    },
    put(bytes, onTaken) {
      if (isClosed) return Promise.resolve();
      ctx.responseBytes += bytes.length;
      // In-process clients keep the bytes that they get.
      if (out.write(bytes, takesFrames(res) ? undefined : onTaken)) return nextTurn(ctx.owner);
      return new Promise((resolve) => {
        const go = () => {
          out.off('drain', go);
          res.off('close', go);
          resolve(nextTurn(ctx.owner));
        };
        out.once('drain', go);
        res.once('close', go);
      });
    },
    end(bytes) {
      ctx.responseBytes += bytes.length;
      out.end(bytes);
    },
  };
}
