/**
 * Memory of HTTP/2 connections. Node counts what is buffered in the streams of a connection and resets new ones beyond a limit, and
 * keeps counting what was buffered in a stream that ended early. So a connection whose client often cancels responses, as watches
 * are, would end with every request reset. Before that it is closed gracefully (GOAWAY, RFC 9113 section 6.8): streams in progress
 * go on, requests that the client sends before it has read the frame are refused as safe to retry, and it opens another connection.
 *
 *   250 streams × (256 KiB of a response, `pieces.ts`, and its head)   + watches with up to 16 MiB each   + 32 MiB cancelled   < 320 MB
 */
import { constants, type Http2Session, type Http2Stream } from 'node:http2';
import { PIECE } from '../response/response-pieces.ts';

/** Memory limit of one connection in megabytes, as Node counts them. */
export const SESSION_MEGABYTES = 320;
/** Maximum bytes that were buffered in streams which ended early; a connection with more is closed. */
export const GIVEN_UP_BYTES = 32 * 1024 * 1024;

type Session = Pick<Http2Session, 'closed' | 'close'>;
type Stream = Pick<Http2Stream, 'once' | 'rstCode' | 'writableFinished' | 'writableLength'>;
const givenUp = new WeakMap<Session, number>();

/** A stream of the connection ended with so many buffered bytes. */
export function noteGivenUp(session: Session, bytes: number): void {
  const sum = (givenUp.get(session) ?? 0) + bytes;
  givenUp.set(session, sum);
  if (sum > GIVEN_UP_BYTES && !session.closed) session.close();
}

/** Notes what is buffered in a stream when it ends early. */
export function watchGivenUp(session: Session, stream: Stream): void {
  let aborted: number | undefined;
  // Later releases of Node have nothing buffered any more when a stream is closed, but go on counting it.
  stream.once('aborted', () => {
    aborted = stream.writableLength;
  });
  stream.once('close', () => {
    const bytes = aborted ?? (stream.writableLength || restOfEnded(stream));
    if (bytes > 0) noteGivenUp(session, bytes);
  });
}

/** A response that was complete on our side is not aborted; what of it was not sent is one piece at most. */
const restOfEnded = ({ rstCode, writableFinished }: Stream): number =>
  rstCode !== constants.NGHTTP2_NO_ERROR && !writableFinished ? PIECE : 0;
