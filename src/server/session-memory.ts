/**
 * Memory of HTTP/2 connections. Node counts what waits in the streams of a connection and resets new ones beyond a limit, and
 * keeps counting what waited in a stream that ended early. So a connection whose client often gives answers up, as watches are,
 * would end with every request reset. Before that it is closed in good order (GOAWAY, RFC 9113 section 6.8): what is under way
 * goes on, what the client sends before it has read that is refused as safe to send again, and it opens another connection.
 *
 *   1,000 streams × (256 KiB of an answer, `pieces.ts`, and its head)   + 32 MiB given up   < 320 MB
 */
import type { Http2Session } from 'node:http2';

/** Megabytes, as Node counts them, that one connection may take. */
export const SESSION_MEGABYTES = 320;
/** Bytes that waited in streams which ended early; a connection with more is closed. */
export const GIVEN_UP_BYTES = 32 * 1024 * 1024;

type Session = Pick<Http2Session, 'closed' | 'close'>;
const givenUp = new WeakMap<Session, number>();

/** A stream of the connection ended while so many bytes waited for its client. */
export function noteGivenUp(session: Session, bytes: number): void {
  const sum = (givenUp.get(session) ?? 0) + bytes;
  givenUp.set(session, sum);
  if (sum > GIVEN_UP_BYTES && !session.closed) session.close();
}
