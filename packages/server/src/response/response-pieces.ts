/**
 * Large responses in pieces, each written when the client has read the one before. Data that waits in an HTTP/2 stream counts
 * towards the memory of its connection (`listen.ts`): a response in one piece would have the client's next requests refused.
 */
import type { Context } from '../context.ts';

/** Maximum bytes of a response that wait for an HTTP/2 client. */
export const PIECE = 256 * 1024;
/** Maximum bytes of one write: encrypting more would delay all others, and so much is held for a client that does not read. */
const WHOLE = 2 * 1024 * 1024;

/** Whether a response of that many bytes is sent in one piece. */
export const isWhole = ({ http2 }: Context, size: number): boolean => size <= (http2 ? PIECE : WHOLE);

/** Sends the last bytes of a response whose head is sent. */
export function endWith(ctx: Context, bytes: Buffer): void {
  if (isWhole(ctx, bytes.length)) ctx.res.end(bytes);
  else inPieces(ctx, bytes);
}

function inPieces({ res: out }: Context, bytes: Buffer): void {
  let at = 0;
  const goOn = (): void => {
    while (bytes.length - at > PIECE) {
      const piece = bytes.subarray(at, at + PIECE);
      at += PIECE;
      if (!out.write(piece)) {
        // Never called when the client disconnects.
        out.once('drain', goOn);
        return;
      }
    }
    out.end(bytes.subarray(at));
  };
  goOn();
}
