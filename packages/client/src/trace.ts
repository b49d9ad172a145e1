/**
 * What is sent and answered, for `-v`:
 *
 *   6    GET https://127.0.0.1:6443/api/v1/pods 200 OK in 4 milliseconds
 *   7    and the headers of both
 *   8    and the first kilobyte of both bodies
 *   9    and the first ten kilobytes; 10 all of it
 *
 * Credentials, secrets and tokens are never shown.
 */
import { STATUS_CODES } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import type { Clock } from '@plat-dev/lib/clock';

export interface TracedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string | Buffer | undefined;
}
export interface TracedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Readable;
}
export interface RequestTrace {
  /** Called when a request is sent. */
  begin(request: TracedRequest): TracedExchange;
}
export interface TracedExchange {
  /** Returns the body to read instead of that of the answer. */
  answered(answer: TracedAnswer): Readable;
  failed(error: Error): void;
}

/** Characters of a body by level; the last one is for all levels above. */
const SHOWN_BODY: Readonly<Record<number, number>> = { 8: 1 << 10, 9: 10 << 10, 10: 1 << 30 };

const hiddenHeaders = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie']);
/** Bodies of these hold credentials: secrets, tokens of service accounts, reviews of tokens. */
const hiddenPath = /\/(secrets|token|tokenreviews|selfsubjecttokenreviews)(\/|\?|$)/;
/** Commands of containers may hold anything. */
const hiddenQuery = /([?&]command=)[^&]*/g;

/** `write` gets whole lines. */
export function requestTrace(level: number, clock: Clock, write: (line: string) => void): RequestTrace {
  const line = (text: string): void => write(`${text}\n`);
  const headers = (sign: string, all: Readonly<Record<string, unknown>>): void => {
    for (const [name, value] of Object.entries(all)) line(`${sign} ${name}: ${hiddenHeaders.has(name) ? '<masked>' : String(value)}`);
  };
  const body = (what: string, text: string, bytes: number, url: string): void => {
    if (bytes === 0) return;
    const most = SHOWN_BODY[Math.min(level, 10)] ?? 0;
    if (hiddenPath.test(url)) line(`${what} body: <masked, ${bytes} bytes>`);
    else line(`${what} body: ${text.slice(0, most)}${text.length > most || bytes > most ? ` [truncated, ${bytes} bytes]` : ''}`);
  };
  return {
    begin({ method, url, headers: sent, body: content }) {
      const began = clock.monotonic();
      const maskedUrl = url.replace(hiddenQuery, '$1<masked>');
      if (level >= 7) {
        line(`${method} ${maskedUrl}`);
        headers('>', sent);
      }
      if (level >= 8 && content !== undefined) body('Request', content.toString(), Buffer.byteLength(content), url);
      return {
        answered({ status, headers: received, body: arriving }) {
          line(`${method} ${maskedUrl} ${status} ${STATUS_CODES[status] ?? ''} in ${Math.round(clock.monotonic() - began)} milliseconds`);
          if (level >= 7) headers('<', received);
          return level < 8
            ? arriving
            : copied(arriving, SHOWN_BODY[Math.min(level, 10)] ?? 0, (text, bytes) => body('Response', text, bytes, url));
        },
        failed: (error) => line(`${method} ${maskedUrl} failed in ${Math.round(clock.monotonic() - began)} milliseconds: ${error.message}`),
      };
    },
  };
}

/** The same stream, whose beginning is reported at its end. */
function copied(body: Readable, most: number, report: (text: string, bytes: number) => void): Readable {
  const copiedChunks: Buffer[] = [];
  let size = 0;
  const copy = new PassThrough();
  body.on('data', (chunk: Buffer) => {
    if (size < most) copiedChunks.push(chunk);
    size += chunk.length;
  });
  const show = (): void => report(Buffer.concat(copiedChunks).toString(), size);
  body.once('end', show);
  body.once('error', (error) => {
    show();
    copy.destroy(error);
  });
  copy.once('close', () => body.destroy());
  return body.pipe(copy);
}
