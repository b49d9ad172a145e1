/** `plat proxy`: serves the API on a local port, without certificates and tokens. */
import { chmodSync, rmSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { bool, duration, FlagError, type FlagValues, flag, port, text } from '@plat-dev/lib/flags';
import { productVersion } from '@plat-dev/lib/version';
import { command, type IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { stopSignal } from '../terminal/stop-signal.ts';
import { type Work, withServer } from '../work.ts';
import { ApiRelay, join } from './api-relay.ts';
import { sendFile } from './proxy-files.ts';

/** A comma-separated list of regular expressions; an empty list matches nothing. */
const patterns = (initial: string, help: string) =>
  flag<readonly RegExp[]>(readPatterns(initial), help, 'REGEXP,…', readPatterns, { defaultText: initial });
function readPatterns(value: string): readonly RegExp[] {
  return value
    .split(',')
    .filter((one) => one !== '')
    .map((one) => {
      try {
        return new RegExp(one);
      } catch {
        throw new Error(`${JSON.stringify(one)} is not a regular expression`);
      }
    });
}

const table = {
  Listening: {
    port: port(8001, 'Port to listen on; 0 takes a free one.', { short: 'p' }),
    address: text('127.0.0.1', 'Address to listen on.', { value: 'ADDRESS' }),
    'unix-socket': text('', 'Listen on a Unix socket at this path instead, readable for you alone.', { short: 'u', value: 'PATH' }),
    keepalive: duration('0s', 'TCP keep-alive interval of connections; 0 uses the default of the system.', {
      defaultText: '0s',
    }),
  },
  Allowing: {
    'accept-paths': patterns('^.*', 'Allow requests to these paths.'),
    'reject-paths': patterns('^/api/.*/pods/.*/exec,^/api/.*/pods/.*/attach', 'Deny requests to these paths, even if accepted.'),
    'reject-methods': patterns('^$', 'Deny these methods, such as POST,PUT,PATCH,DELETE.'),
    'accept-hosts': patterns(
      '^localhost$,^127\\.0\\.0\\.1$,^\\[::1\\]$',
      'Allow requests with these Host headers; others may come from web pages.',
    ),
    'disable-filter': bool(false, 'Disable the filters: every client of the port may do everything.'),
  },
  Paths: {
    'api-prefix': text('/', 'Path prefix of the API.', { value: 'PATH' }),
    'append-server-path': bool(false, 'Put the path of the address of the server, if it has one, before that of each request.'),
    www: text('', 'Serve the files of this directory.', { short: 'w', value: 'DIR' }),
    'www-prefix': text('/static/', 'Path prefix of the files of --www.', { short: 'P', value: 'PATH' }),
  },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

export const proxy = command({
  usage: '[flags]',
  summary: 'Serve the API on a local port, with your credentials.',
  flags: table,
  more: `
Anyone who can connect to the port acts with your credentials. By default only clients on this machine can, and only with a Host header of this machine.

Examples:
  plat proxy, then: curl http://127.0.0.1:8001/api/v1/namespaces
  plat proxy --port=0 --reject-methods=POST,PUT,PATCH,DELETE
  plat proxy --www=./site --www-prefix=/site/ --api-prefix=/api-server/

Runs until it is interrupted. Exit codes:
  0   interrupted
  1   cannot listen, or the client configuration cannot be used
  2   the command line is wrong
`,
  async run({ options, args }, io) {
    if (args.length > 0) throw new FlagError(`proxy takes no arguments, but got ${JSON.stringify(args[0])}`);
    for (const [name, prefix] of [
      ['api-prefix', options.apiPrefix],
      ['www-prefix', options.wwwPrefix],
    ] as const)
      if (!prefix.startsWith('/')) throw new FlagError(`--${name} must begin with a slash`);
    if (options.unixSocket !== '' && io.platform === 'win32')
      throw new FlagError('--unix-socket: Windows has none that Node can listen on');
    if (options.www !== '' && !isDirectory(options.www)) throw new FlagError(`--www ${options.www}: there is no such directory`);
    return withServer(options, io, (work) => serve(work, options, io), { untilInterrupted: true });
  },
});
function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

async function serve(work: Work, options: Options, io: IO): Promise<number> {
  const { stopped, forget } = stopSignal(io);
  const relay = new Relay(work, options);
  const server = createServer((request, response) => void relay.answer(request, response));
  server.on('upgrade', (request, socket, head) => void relay.upgrade(request, socket, head));
  if (options.keepalive > 0) server.on('connection', (socket) => socket.setKeepAlive(true, options.keepalive));
  try {
    io.out(`Starting to serve on ${await listen(server, options)}\n`);
    if (options.disableFilter) io.err('plat: filters are off: anyone who can connect to this port acts with your credentials\n');
    await stopped;
    return 0;
  } finally {
    forget();
    server.close();
    server.closeAllConnections();
    relay.close();
    if (options.unixSocket !== '') rmSync(options.unixSocket, { force: true });
  }
}
function listen(server: Server, { unixSocket, address, port: givenPort }: Options): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const where = unixSocket === '' ? `${address}:${givenPort}` : unixSocket;
      const why = error.code === 'EADDRINUSE' ? 'the address is in use: choose another with -p or -u' : error.message;
      reject(new Error(`cannot listen on ${where}: ${why}`));
    });
    server.once('listening', () => {
      if (unixSocket !== '') chmodSync(unixSocket, 0o600);
      const at = server.address();
      resolve(typeof at === 'string' ? at : `${at?.family === 'IPv6' ? `[${at.address}]` : at?.address}:${(at as AddressInfo).port}`);
    });
    // Nobody else may connect between listening and the change of the mode.
    const previousUmask = unixSocket === '' ? undefined : process.umask(0o177);
    if (unixSocket !== '') server.listen(unixSocket);
    else server.listen(givenPort, address);
    if (previousUmask !== undefined) process.umask(previousUmask);
  });
}

class Relay {
  private readonly options: Options;
  private readonly relay: ApiRelay;

  constructor(work: Work, options: Options) {
    this.options = options;
    const { connection } = work.session;
    const target = options.appendServerPath ? connection : { ...connection, server: new URL(connection.server).origin };
    this.relay = new ApiRelay(target, { userAgent: `plat-proxy/${productVersion}`, clock: work.io.clock });
  }
  close(): void {
    this.relay.close();
  }
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? '/';
    const clean = cleanUrl(url);
    if (clean !== url) return void response.writeHead(301, { location: clean }).end();
    try {
      if (!this.allowed(request)) return say(response, 403, 'the proxy denies this request: see its --accept-* and --reject-* flags');
      if (this.options.www !== '' && url.startsWith(this.options.wwwPrefix)) return await this.file(url, response);
      const path = this.apiPath(url);
      if (path === undefined) return say(response, 404, `the API is found under ${this.options.apiPrefix}`);
      await this.relay.pass(request, response, { path, headers: request.headers });
    } catch (error) {
      if (response.headersSent) response.destroy();
      else say(response, 502, (error as Error).message);
    }
  }
  private allowed(request: IncomingMessage): boolean {
    const { options } = this;
    if (options.disableFilter) return true;
    const path = new URL(request.url ?? '/', 'http://x').pathname;
    // As the server will read it: an escaped letter is that letter.
    const plain = safelyDecoded(path);
    const host = hostOf(request.headers.host ?? '');
    const any = (list: readonly RegExp[], ...texts: readonly string[]): boolean => list.some((one) => texts.some((text) => one.test(text)));
    return (
      any(options.acceptHosts, host) &&
      any(options.acceptPaths, plain) &&
      !any(options.rejectPaths, path, plain) &&
      !any(options.rejectMethods, request.method ?? '')
    );
  }
  private apiPath(url: string): string | undefined {
    const prefix = this.options.apiPrefix.replace(/\/+$/, '');
    if (prefix === '') return url;
    return url === prefix || url.startsWith(`${prefix}/`) || url.startsWith(`${prefix}?`) ? url.slice(prefix.length) || '/' : undefined;
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => {});
    const refuse = (status: string): void => void socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    const path = this.apiPath(request.url ?? '/');
    if (!this.allowed(request)) return refuse('403 Forbidden');
    if (path === undefined || cleanUrl(path) !== path) return refuse('404 Not Found');
    try {
      join(await this.relay.upgrade(request, { path, headers: request.headers }), socket, head);
    } catch {
      refuse('502 Bad Gateway');
    }
  }

  private async file(url: string, response: ServerResponse): Promise<void> {
    const requestedPath = safelyDecoded(new URL(url, 'http://x').pathname).slice(this.options.wwwPrefix.length);
    if (!(await sendFile(this.options.www, requestedPath, response))) say(response, 404, 'there is no such file');
  }
}

/** Without empty segments and dots in its path, which the filters would read otherwise than the server: `//a/./b?c` → `/a/b?c`. */
export function cleanUrl(url: string): string {
  const end = url.search(/[?#]/);
  const path = end < 0 ? url : url.slice(0, end);
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  const slash = segments.length > 0 && /\/\.{0,2}$/.test(path) ? '/' : '';
  return `/${segments.join('/')}${slash}${end < 0 ? '' : url.slice(end)}`;
}
const hostOf = (header: string): string => /^(\[[^\]]*\]|[^:]*)/.exec(header)?.[1] ?? '';
function safelyDecoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
function say(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
  response.end(`${message}\n`);
}
