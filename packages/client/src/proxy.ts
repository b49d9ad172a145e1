/** Connections through a proxy: which proxy to use for a server, and the tunnel through it. */

import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, connect as connectPlain, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { own } from '@plat-dev/lib/own';
import { ConfigError } from './config.ts';

const schemes = ['http:', 'https:', 'socks5:'];
const TUNNEL_MS = 30_000;

/** The proxy of the cluster entry, else the one of the environment; undefined for a direct connection. Throws ConfigError. */
export function proxyFor(
  server: string,
  givenProxy: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (givenProxy) {
    checkProxy(givenProxy, 'proxy-url');
    return givenProxy;
  }
  const { protocol, hostname, port } = new URL(server);
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const variable = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const proxyUrl = env[variable] || own(env, variable.toLowerCase());
  if (!proxyUrl || host === 'localhost' || host === '::1' || host.startsWith('127.')) return undefined;
  if (isExcepted(host, port || (protocol === 'https:' ? '443' : '80'), env.NO_PROXY || env.no_proxy || '')) return undefined;
  const address = proxyUrl.includes('://') ? proxyUrl : `http://${proxyUrl}`;
  checkProxy(address, variable);
  return address;
}
function checkProxy(address: string, what: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url !== undefined && schemes.includes(url.protocol) && url.hostname !== '') return;
  throw new ConfigError(
    `${what} ${JSON.stringify(address.replace(/\/\/.*@/, '//'))} is not an address such as http://proxy.example:3128 or socks5://…`,
  );
}

/** `NO_PROXY`: hosts, domains with their subdomains, addresses and CIDR blocks, each with or without a port. */
function isExcepted(host: string, port: string, list: string): boolean {
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [block, bits] = entry.split('/');
      if (bits !== undefined) return inBlock(host, block as string, Number(bits));
      const match = isIP(entry) === 0 ? /^(.*):(\d+)$/.exec(entry) : null;
      if (match !== null && match[2] !== port) return false;
      const name = (match?.[1] ?? entry).replace(/^\[|\]$/g, '').replace(/^\*(?=\.)/, '');
      return name.startsWith('.') ? host.endsWith(name) : host === name || host.endsWith(`.${name}`);
    });
}
function inBlock(host: string, block: string, bits: number): boolean {
  const family = isIP(host);
  if (family === 0 || isIP(block) !== family || !Number.isInteger(bits) || bits < 0 || bits > (family === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(block, bits, family === 4 ? 'ipv4' : 'ipv6');
  return list.check(host, family === 4 ? 'ipv4' : 'ipv6');
}

/** A connection to a host behind a proxy. */
export async function tunnel(proxy: string, host: string, port: number): Promise<Duplex> {
  const url = new URL(proxy);
  return url.protocol === 'socks5:' ? socks(url, host, port) : connectThrough(url, host, port);
}

const userOf = (url: URL): { name: string; password: string } | undefined =>
  url.username === '' ? undefined : { name: decodeURIComponent(url.username), password: decodeURIComponent(url.password) };
const failed = (url: URL, what: string): Error => Object.assign(new Error(`the proxy ${url.host} ${what}`), { code: 'EPROXY' });

function connectThrough(url: URL, host: string, port: number): Promise<Duplex> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const user = userOf(url);
  const target = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    const request = send({
      agent: false,
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port || (url.protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: target,
      headers: {
        host: target,
        ...(user && { 'proxy-authorization': `Basic ${Buffer.from(`${user.name}:${user.password}`).toString('base64')}` }),
      },
      timeout: TUNNEL_MS,
    });
    request.on('timeout', () => request.destroy(new Error('no answer in time')));
    request.on('error', (error) => reject(failed(url, `gives no connection: ${error.message}`)));
    request.on('response', (response) => {
      response.destroy();
      reject(failed(url, `answered ${response.statusCode} to a connection to ${target}`));
    });
    request.on('connect', (response, socket: Duplex, head: Buffer) => {
      if (response.statusCode !== 200) {
        socket.destroy();
        reject(failed(url, `answered ${response.statusCode} to a connection to ${target}`));
        return;
      }
      (socket as Socket).setTimeout(0);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    request.end();
  });
}

/** SOCKS version 5 (RFC 1928), with user name and password (RFC 1929) if the URL has them. The proxy resolves names. */
async function socks(url: URL, host: string, port: number): Promise<Duplex> {
  const socket = connectPlain({ host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 1080) });
  socket.setTimeout(TUNNEL_MS, () => socket.destroy(new Error('no answer in time')));
  const user = userOf(url);
  const read = reader(socket);
  try {
    socket.write(Buffer.from([5, 1, user === undefined ? 0 : 2]));
    const [, method] = await read(2);
    if (method === 2 && user !== undefined) {
      const [name, password] = [Buffer.from(user.name), Buffer.from(user.password)];
      socket.write(Buffer.concat([Buffer.from([1, name.length]), name, Buffer.from([password.length]), password]));
      if ((await read(2))[1] !== 0) throw new Error('does not accept the name and password');
    } else if (method !== 0) throw new Error('wants another way of logging in');
    const name = Buffer.from(host);
    socket.write(Buffer.concat([Buffer.from([5, 1, 0, 3, name.length]), name, Buffer.from([port >> 8, port & 255])]));
    const head = await read(4);
    if (head[1] !== 0) throw new Error(`refused a connection to ${host}:${port} (code ${head[1]})`);
    // The bound address of the proxy is not used.
    await read((head[3] === 1 ? 4 : head[3] === 4 ? 16 : ((await read(1))[0] ?? 0)) + 2);
    socket.setTimeout(0);
    return socket;
  } catch (error) {
    socket.destroy();
    throw failed(url, (error as Error).message);
  }
}
/** Reads so many bytes at a time, and leaves the following bytes in the stream. */
function reader(socket: Socket): (count: number) => Promise<Buffer> {
  return (count) =>
    new Promise((resolve, reject) => {
      const attempt = (): void => {
        const bytes: Buffer | null = socket.read(count);
        if (bytes === null) {
          if (socket.readableEnded) done(() => reject(new Error('closed the connection')));
          return;
        }
        done(() => resolve(bytes));
      };
      const broken = (error: unknown): void => done(() => reject(error instanceof Error ? error : new Error('closed the connection')));
      const done = (then: () => void): void => {
        socket.off('readable', attempt);
        socket.off('error', broken);
        socket.off('close', broken);
        then();
      };
      socket.on('readable', attempt);
      socket.on('error', broken);
      socket.on('close', broken);
      attempt();
    });
}
