/** A client for tests that kill what they talk to: an answer, or the knowledge that there will be none. */

import http2 from 'node:http2';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import type { Loose } from '../support/client.ts';

/** The request may have had an effect or not. */
export class Unanswered extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Unanswered';
  }
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: Loose;
}
export interface ApiRequest {
  readonly body?: unknown;
  readonly type?: string;
  readonly timeoutMs?: number;
}
export interface ApiWatch {
  readonly done: Promise<void>;
  close(): void;
}

const TIMEOUT_MS = 20_000;

export class Api {
  readonly #address: string;
  readonly #token: string;
  #session: http2.ClientHttp2Session | undefined;

  constructor(address: string, token: string) {
    this.#address = address;
    this.#token = token;
  }

  /** Rejects with Unanswered when the connection breaks or the answer takes too long. */
  send(method: string, path: string, { body, type = 'application/json', timeoutMs = TIMEOUT_MS }: ApiRequest = {}): Promise<ApiAnswer> {
    return new Promise((resolve, reject) => {
      const stream = this.#open(method, path, body === undefined ? undefined : type, reject);
      if (stream === undefined) return;
      const timer = setTimeout(() => {
        reject(new Unanswered('timeout'));
        stream.close(http2.constants.NGHTTP2_CANCEL);
      }, timeoutMs);
      let status = 0;
      const chunks: Buffer[] = [];
      stream.on('response', (head) => {
        status = head[':status'] as number;
      });
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      const broken = (reason: string) => {
        clearTimeout(timer);
        reject(new Unanswered(reason));
      };
      stream.on('error', (error) => broken(error.message));
      stream.on('aborted', () => broken('aborted'));
      stream.on('close', () => broken('closed'));
      stream.on('end', () => {
        if (status === 0 || stream.aborted) return;
        clearTimeout(timer);
        try {
          resolve({ status, body: JSON.parse(Buffer.concat(chunks).toString()) });
        } catch {
          reject(new Unanswered('the answer was cut short'));
        }
      });
      if (body !== undefined) stream.end(JSON.stringify(body));
    });
  }

  async ok(method: string, path: string, request?: ApiRequest): Promise<Loose> {
    const { status, body } = await this.send(method, path, request);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${jsonText(body)}`);
    return body;
  }

  /** Events until the stream ends or is closed. An answer other than 200 is given to `refused`. */
  watch(path: string, event: (event: Loose) => void, refused: (status: number) => void = () => {}): ApiWatch {
    let close = () => {};
    const done = new Promise<void>((resolve) => {
      const stream = this.#open('GET', path, undefined, () => resolve());
      if (stream === undefined) return;
      close = () => stream.close(http2.constants.NGHTTP2_CANCEL);
      let rest = '';
      let status = 0;
      stream.setEncoding('utf8');
      stream.on('response', (head) => {
        status = head[':status'] as number;
        if (status !== 200) refused(status);
      });
      stream.on('data', (text: string) => {
        if (status !== 200) return;
        const lines = (rest + text).split('\n');
        rest = lines.pop() as string;
        for (const line of lines) if (line !== '') event(JSON.parse(line));
      });
      stream.on('error', () => resolve());
      stream.on('close', () => resolve());
    });
    return { done, close: () => close() };
  }

  close(): void {
    this.#session?.destroy();
  }

  #open(method: string, path: string, type: string | undefined, failed: (error: Error) => void): http2.ClientHttp2Stream | undefined {
    if (this.#session === undefined || this.#session.destroyed || this.#session.closed) {
      this.#session = http2.connect(this.#address, { rejectUnauthorized: false });
      this.#session.on('error', () => {});
    }
    try {
      const headers = { ':method': method, ':path': path, authorization: `Bearer ${this.#token}`, ...(type && { 'content-type': type }) };
      // Without this a DELETE is sent without its body.
      return this.#session.request(headers, { endStream: type === undefined });
    } catch (error) {
      failed(new Unanswered((error as Error).message));
      return undefined;
    }
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
