/**
 * Large answers in pieces, each handed over when the client has taken the one before. What waits in a stream of HTTP/2 counts
 * towards the memory of its connection (`listen.ts`): an answer in one piece would have the client's next requests refused.
 */
import type { Context } from './context.ts';

/** Most bytes of an answer that wait for a client of HTTP/2. */
export const PIECE = 256 * 1024;
/** Most bytes that are handed to a connection at once: encrypting more would hold all others up. */
export const WHOLE = 1024 * 1024;

/** Whether an answer of that many bytes goes out in one piece. */
export const isWhole = ({ http2 }: Context, size: number): boolean => size <= (http2 ? PIECE : WHOLE);

/** Sends the last bytes of an answer whose head is on its way. */
export function endWith(ctx: Context, bytes: Buffer): void {
  if (isWhole(ctx, bytes.length)) ctx.res.end(bytes);
  else inPieces(ctx, bytes);
}

function inPieces({ res }: Context, bytes: Buffer): void {
  const out = res as NodeJS.WritableStream;
  let at = 0;
  const goOn = (): void => {
    while (bytes.length - at > PIECE) {
      const piece = bytes.subarray(at, at + PIECE);
      at += PIECE;
      if (!out.write(piece)) {
        // Never called when the client goes away.
        out.once('drain', goOn);
        return;
      }
    }
    out.end(bytes.subarray(at));
  };
  goOn();
}
