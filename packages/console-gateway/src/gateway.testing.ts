/** A gateway whose browsers and API are made by a test. */
import { PassThrough, Readable } from 'node:stream';
import { FakeClock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { silentLog } from '@plat-dev/lib/log';
import { seededRandom } from '@plat-dev/lib/random';
import { unauthorized } from '@plat-dev/meta/errors';
import type { Backend } from './backend.ts';
import { newCode, type OneTimeCode } from './code.ts';
import type { BrowserRequest, BrowserResponse } from './exchange.ts';
import { Gateway, type GatewayOptions } from './gateway.ts';

type TestBackend = Backend<BrowserRequest, BrowserResponse, PassThrough>;

export interface TestGateway {
  readonly clock: FakeClock;
  readonly code: OneTimeCode;
  readonly gateway: Gateway<BrowserRequest, BrowserResponse, PassThrough>;
  ask(request: AskedRequest): Promise<GivenAnswer>;
  /** Logs in and returns the cookie. */
  logIn(credential: object): Promise<string>;
}
interface AskedRequest {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Of the browser. */
  readonly address?: string;
  readonly encrypted?: boolean;
}
interface GivenAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export function testGateway(
  options: Partial<GatewayOptions<BrowserRequest, BrowserResponse, PassThrough>> = {},
  changes: Partial<TestBackend> = {},
): TestGateway {
  const clock = new FakeClock();
  const random = seededRandom(1);
  const code = newCode(random, clock);
  const backend: TestBackend = {
    identity: 'plat',
    version: '1',
    release: '1.24',
    handle: (_, response) => void response.end(),
    watch: () => Promise.reject(new Error('no watch')),
    byCode: { way: 'code', caller: () => ({ name: 'admin', groups: [] }) },
    byToken: (token) => () => {
      if (!token.startsWith('good')) throw unauthorized();
      return { name: `user of ${token}`, groups: [] };
    },
    ...changes,
  };
  const gateway = new Gateway({ backend, assets: '/nowhere', code, clock, random, log: silentLog, ...options });
  const ask = (request: AskedRequest): Promise<GivenAnswer> =>
    new Promise((resolve) => {
      const { method = 'GET', url, headers = {}, body, address = '127.0.0.1', encrypted = true } = request;
      const incoming = Object.assign(Readable.from(body === undefined ? [] : [Buffer.from(jsonText(body))]), {
        method,
        url,
        httpVersionMajor: 1,
        headers: { host: 'localhost:6443', ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        rawHeaders: [],
        socket: { remoteAddress: address, encrypted },
      });
      const outgoing = Object.assign(new PassThrough(), { headersSent: false, writeHead: () => {} });
      let head: readonly [number, readonly string[]] = [0, []];
      const writeHead = (status: number, list: readonly string[]): void => {
        head = [status, list];
      };
      Object.assign(outgoing, { writeHead });
      const chunks: Buffer[] = [];
      outgoing.on('data', (chunk: Buffer) => chunks.push(chunk));
      outgoing.once('end', () => {
        const [status, list] = head;
        const fields = list.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), list[i + 1] as string] as const] : []));
        resolve({ status, headers: Object.fromEntries(fields), text: Buffer.concat(chunks).toString() });
      });
      gateway.handle(incoming as unknown as BrowserRequest, outgoing as unknown as BrowserResponse);
    });
  const logIn = async (credential: object): Promise<string> => {
    const { headers } = await ask({ method: 'POST', url: '/console/session', body: credential });
    return (headers['set-cookie'] ?? '').split(';')[0] as string;
  };
  return { clock, code, gateway, ask, logIn };
}
