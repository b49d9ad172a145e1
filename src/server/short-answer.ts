/**
 * Short answers over HTTP/1.1 in one write. By itself Node hands head, body and end of an answer to the connection as three
 * pieces, which it then joins, and holds every header against two patterns; for an answer of a few kilobytes that takes longer
 * than encrypting it. Here the head is made of values that are known to be good, and goes out with the body as one text, a
 * character for each byte.
 *
 * It relies on two members of Node's response that are not documented, though older than most that are: `_storeHeader`, which
 * completes a head (date, length, connection), and `_header`, the head until it is sent. Where they are not
 * there, `sendShort` sends nothing, and the answer goes the usual way.
 */
import { ServerResponse, STATUS_CODES } from 'node:http';
import type { Context } from './context.ts';

/** Longer answers go the usual way: a text of their bytes would be one more copy. */
export const SHORT = 16 * 1024;

interface Response extends ServerResponse {
  _header: string | null;
  _contentLength: number | null;
  _storeHeader(head: string): void;
}

const known = typeof (ServerResponse.prototype as Partial<Response>)._storeHeader === 'function';

/**
 * Sends an answer of JSON that has no headers but those of the request; false where it must go the usual way. Of the headers
 * that a request may have, only its answers to errors have one that decides on the connection.
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
