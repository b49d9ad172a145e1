/** What the gateway uses of a request of a browser and of its response, whatever server they come from. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { own } from '@plat-dev/lib/own';
import { ApiError, badRequest, internalError, requestTimedOut, requestTooLarge } from '@plat-dev/meta/errors';

export interface BrowserRequest {
  readonly method?: string | undefined;
  /** Path and query. */
  readonly url?: string | undefined;
  readonly httpVersionMajor: number;
  readonly headers: Readonly<IncomingHttpHeaders>;
  readonly rawHeaders: readonly string[];
  readonly socket: { readonly remoteAddress?: string | undefined; readonly encrypted?: boolean };
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end' | 'aborted', listener: () => void): unknown;
  resume(): unknown;
}

export interface BrowserResponse {
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  end(): unknown;
  end(bytes: Buffer): unknown;
  destroy(error?: Error): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** A connection that may be taken over by another protocol. */
export interface BrowserUpgrade<Socket extends Duplex = Duplex> {
  readonly protocol: string;
  /** Bytes that arrived right behind the request. */
  readonly head: Buffer;
  /** Takes the connection; undefined if it is closed. */
  take(): Socket | undefined;
}

/**
 * Headers of every answer of the console. Scripts and styles come from its own files alone, no page may frame it, and other origins
 * cannot read its answers.
 */
export const safetyHeaders: readonly string[] = [
  'Content-Security-Policy',
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'no-referrer',
  'Cross-Origin-Opener-Policy',
  'same-origin',
  'Cross-Origin-Resource-Policy',
  'same-origin',
];

/** Sends a whole answer. Headers: names and values in turn. */
export function send(
  request: BrowserRequest,
  response: BrowserResponse,
  status: number,
  headers: readonly string[],
  body: Buffer | string = '',
): void {
  if (response.destroyed || response.headersSent) return;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const all = [...safetyHeaders, ...headers, 'Content-Length', String(bytes.length)];
  const head = request.httpVersionMajor === 2 ? recordOf(all) : all;
  (response as unknown as { writeHead(code: number, headers: unknown): void }).writeHead(status, head);
  // What the browser still sends is dropped, so that the connection can go on.
  request.resume();
  if (request.method === 'HEAD' || bytes.length === 0) response.end();
  else response.end(bytes);
}

/** The form that HTTP/2 of Node takes. Only Set-Cookie comes more than once. */
function recordOf(headers: readonly string[]): Record<string, string | string[]> {
  const record = new Map<string, string | string[]>();
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = (headers[i] as string).toLowerCase();
    const earlierValue = record.get(name);
    record.set(name, earlierValue === undefined ? (headers[i + 1] as string) : [earlierValue, headers[i + 1] as string].flat());
  }
  return Object.fromEntries(record);
}

export function sendJson(
  request: BrowserRequest,
  response: BrowserResponse,
  status: number,
  value: unknown,
  headers: readonly string[] = [],
): void {
  const body = `${jsonText(value)}\n`;
  send(request, response, status, ['Content-Type', 'application/json', 'Cache-Control', 'no-store', ...headers], body);
}

/** Sends an error as a Status; one that is not of the API is a fault of ours, whose details stay here. */
export function sendError(request: BrowserRequest, response: BrowserResponse, error: unknown, more: object = {}): void {
  const fault = error instanceof ApiError ? error : internalError('the console could not finish the request');
  const seconds = fault.details?.retryAfterSeconds;
  const headers = seconds === undefined ? [] : ['Retry-After', String(seconds)];
  sendJson(request, response, fault.code, { ...fault.status(), ...more }, headers);
}

export function headerOf({ headers }: BrowserRequest, name: string): string | undefined {
  const value = own(headers, name);
  return Array.isArray(value) ? value[0] : value;
}

/** Bytes of the body of a log-in; a token has at most 64 KiB. */
const BODY_BYTES = 128 * 1024;

const BODY_MS = 10_000;

/** The body of a request as a JSON object. */
export function readJson(request: BrowserRequest, clock: Clock): Promise<Readonly<Record<string, unknown>>> {
  return new Promise((resolve, reject) => {
    const cancelTimeout = clock.after(BODY_MS, () => reject(requestTimedOut('the body did not come in time')));
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk) => {
      size += chunk.length;
      if (size <= BODY_BYTES) chunks.push(chunk);
      else reject(requestTooLarge(`the body has more than ${BODY_BYTES} bytes`));
    });
    request.on('error', reject);
    request.on('aborted', () => reject(badRequest('the request was broken off')));
    request.on('end', () => {
      cancelTimeout();
      try {
        const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
        if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('no object');
        resolve(value as Record<string, unknown>);
      } catch {
        reject(badRequest('the body is not a JSON object'));
      }
    });
  });
}
