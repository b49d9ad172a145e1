/**
 * Short responses over HTTP/1.1 in one write. By itself Node passes head, body and end of a response to the connection as three
 * pieces, which it then joins, and validates every header with two patterns; for a response of a few kilobytes that takes longer
 * than encrypting it. Here the head is made of values that are known to be valid, and is sent with the body as one text, a
 * character for each byte.
 *
 * It relies on two members of Node's response that are not documented, though older than most that are: `_storeHeader`, which
 * completes a head (date, length, connection), and `_header`, the head until it is sent. If they do not
 * exist, `sendShort` sends nothing, and the response is sent the usual way.
 */
import { ServerResponse, STATUS_CODES } from 'node:http';
import type { Context } from './context.ts';

/** Longer responses are sent the usual way: a text of their bytes would be one more copy. */
export const SHORT = 16 * 1024;

interface Response extends ServerResponse {
  _header: string | null;
  _contentLength: number | null;
  _storeHeader(head: string): void;
}

const known = typeof (ServerResponse.prototype as Partial<Response>)._storeHeader === 'function';

/**
 * Sends a JSON response with no headers but those of the request context; false if it must be sent the usual way. Of the headers
 * of a request context, only those of errors affect the connection.
 */
export function sendShort(ctx: Context, status: number, bytes: Buffer): boolean {
  const { req, headers } = ctx;
  const res = ctx.res as Response;
  if (!known || !(res instanceof ServerResponse) || (status !== 200 && status !== 201) || bytes.length > SHORT) return false;
  if (ctx.method === 'HEAD' || ctx.longRunning || req.httpVersion !== '1.1' || req.headers.expect !== undefined) return false;
  ctx.status = status;
  res.statusCode = status;
  res._contentLength = bytes.length;
  let head = status === 200 ? OK : CREATED;
  for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`;
  res._storeHeader(`${head}Content-Type: application/json\r\n`);
  res._header += bytes.toString('latin1');
  res.end();
  return true;
}

const firstLine = (status: number): string => `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
const OK = firstLine(200);
const CREATED = firstLine(201);
