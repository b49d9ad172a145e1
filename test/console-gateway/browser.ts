/** A browser as the gateway sees it: it keeps cookies, and says where its requests come from. */
import { mkdirSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import WebSocket from 'ws';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { type Answer, Client, type ClientOptions, type Loose, type RequestOptions } from '../support/client.ts';
import type { TestServer } from '../support/server.ts';

/** A folder as the build of the console makes one. */
export function consoleFiles(): string {
  const folder = temporaryDirectory('plat-console');
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>console</title>');
  writeFileSync(join(folder, 'assets', 'main-abc123.js'), 'console.log(1)');
  writeFileSync(join(folder, 'assets', 'main-abc123.js.br'), brotliCompressSync('console.log(1)'));
  writeFileSync(join(folder, 'secret'), 'not for browsers');
  return folder;
}

export const codeOf = (server: Pick<TestServer, 'running'>): string =>
  new URL(server.running.consoleLink as string).searchParams.get('code') as string;

export class Browser {
  readonly origin: string;
  readonly client: Client;
  /** Of the page, where the browser knows the server by another name. */
  private readonly pageOrigin: string;
  private readonly cookies = new Map<string, string>();

  constructor(origin: string, options: ClientOptions = {}) {
    this.origin = origin;
    this.client = new Client(origin, options);
    this.pageOrigin = options.headers?.host === undefined ? origin : `https://${options.headers.host}`;
  }
  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }
  set cookie(text: string) {
    this.cookies.clear();
    for (const one of text.split('; ').filter((cookie) => cookie !== '')) this.cookies.set(...(one.split('=', 2) as [string, string]));
  }
  /** As a script of the page does. */
  async send(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    return this.sendFrom({ origin: this.pageOrigin, 'sec-fetch-site': 'same-origin', 'x-plat-console': '1' }, method, path, options);
  }
  /** With these headers of the browser, and the cookies. */
  async sendFrom(from: Record<string, string>, method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const headers = { ...from, ...(this.cookie !== '' && { cookie: this.cookie }), ...options.headers };
    const answer = await this.client.send(method, path, { ...options, headers });
    for (const header of [answer.headers['set-cookie'] ?? []].flat()) {
      const [name = '', value = ''] = (header.split(';')[0] as string).split('=', 2);
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }
  logIn(credential: Loose): Promise<Answer> {
    return this.send('POST', '/console/session', { body: credential });
  }
  api(method: string, path: string, body?: Loose): Promise<Answer> {
    return this.send(method, `/console/api${path}`, body === undefined ? {} : { body });
  }
  /** A WebSocket as a script of the page opens it, or of another page. `answered` sees the answer of the server. */
  socket(
    path: string,
    protocol: string | string[],
    headers: Record<string, string> = {},
    answered: (answer: IncomingMessage) => void = () => {},
  ): Promise<PageSocket> {
    const socket = new WebSocket(`${this.origin.replace(/^http/, 'ws')}${path}`, protocol, {
      rejectUnauthorized: false,
      headers: { origin: this.origin, ...(this.cookie !== '' && { cookie: this.cookie }), ...headers },
    });
    return new Promise((resolve, reject) => {
      const page = new PageSocket(socket);
      socket.once('upgrade', answered);
      socket.once('open', () => resolve(page));
      socket.once('unexpected-response', (_, response) => reject(new Error(`answered ${response.statusCode}`)));
      socket.once('error', reject);
    });
  }
  close(): void {
    this.client.close();
  }
}

/** The messages of a WebSocket, in order. */
export class PageSocket {
  readonly socket: WebSocket;
  readonly messages: Loose[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  private wake: () => void = () => {};

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data, isBinary) => {
      this.messages.push(isBinary ? data : JSON.parse(String(data)));
      this.wake();
    });
    this.closed = new Promise((resolve) => {
      socket.once('close', (code, reason) => {
        resolve({ code, reason: String(reason) });
        this.wake();
      });
    });
  }
  send(message: Loose): void {
    this.socket.send(typeof message === 'string' ? message : jsonText(message));
  }
  /** The first message from the given place on that fits. */
  async next(fits: (message: Loose) => boolean, from = 0): Promise<Loose> {
    for (;;) {
      const message = this.messages.slice(from).find(fits);
      if (message !== undefined) return message;
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error(`closed after ${jsonText(this.messages)}`);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}
