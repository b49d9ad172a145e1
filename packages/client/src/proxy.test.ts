import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, connect, createServer as createTcp, type Server, type Socket } from 'node:net';
import { systemClock } from '@plat-dev/lib/clock';
import { issueServing, newAuthority, readAuthority } from '@plat-dev/pki';
import { afterAll, expect, test } from 'vitest';
import type { Connection } from './connection-settings.ts';
import { proxyFor } from './proxy.ts';
import { Transport } from './transport.ts';

test('the cluster names its proxy, else the environment does, but for hosts nearby', () => {
  const env = { HTTPS_PROXY: 'http://p.example:3128', NO_PROXY: 'in.example, .sub.example,10.0.0.0/8,h.example:6443,fd00::/8' };
  const at = (server: string, named?: string) => proxyFor(server, named, env);
  expect(at('https://out.example')).toBe('http://p.example:3128');
  expect(at('https://out.example', 'socks5://q.example')).toBe('socks5://q.example');
  expect(at('http://out.example')).toBe(undefined);
  for (const near of ['localhost:1', '127.0.0.1', '[::1]:6443', 'in.example', 'a.in.example', 'a.sub.example', '10.1.2.3', '[fd00::1]'])
    expect(at(`https://${near}`), near).toBe(undefined);
  for (const far of ['sub.example', 'xin.example', '11.1.2.3', 'h.example:443']) expect(at(`https://${far}`), far).toBeDefined();
  expect(at('https://h.example:6443')).toBe(undefined);
  expect(proxyFor('https://x.example', undefined, { https_proxy: 'p.example:1', NO_PROXY: '' })).toBe('http://p.example:1');
  expect(proxyFor('https://x.example', undefined, { https_proxy: 'p.example:1', NO_PROXY: '*' })).toBe(undefined);
  expect(() => at('https://x.example', 'ftp://u:secret@p.example')).toThrow('"ftp://p.example" is not an address');
});

const authority = newAuthority('ca', Date.now());
const serving = issueServing(readAuthority(authority), { commonName: 's', dns: ['api.test'], addresses: [] }, Date.now());
const server = createHttps({ key: serving.key, cert: serving.certificate }, (request, response) => response.end(`hello ${request.url}`));
const plain = createHttp((request, response) => response.end(`plain ${request.url}`));
const open: (Server | ReturnType<typeof createHttp>)[] = [];
async function listen(one: Server | ReturnType<typeof createHttp>): Promise<number> {
  one.listen(0, '127.0.0.1');
  await once(one, 'listening');
  open.push(one);
  return (one.address() as AddressInfo).port;
}
const sockets: Socket[] = [];
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  for (const one of open) one.close();
});
const port = await listen(server as unknown as Server);
const plainPort = await listen(plain);

const transport = (proxy: string, changes: Partial<Connection> = {}): Transport =>
  new Transport(
    {
      server: 'https://api.test:6443',
      ca: authority.certificate,
      certificate: undefined,
      key: undefined,
      authorization: undefined,
      insecure: false,
      serverName: undefined,
      namespace: 'default',
      proxy,
      ...changes,
    },
    'test/1',
    systemClock,
  );

test('a tunnel through an HTTP proxy: TLS reaches to the server itself', async () => {
  const asked: string[] = [];
  const proxy = createHttp();
  proxy.on('connect', (request, client: Socket) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`);
    if (request.url === 'denied.test:443') return void client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const far = connect(request.url?.startsWith('api.test') ? port : plainPort, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(far).pipe(client);
    });
    sockets.push(client, far);
  });
  const address = `http://us%65r:pw@127.0.0.1:${await listen(proxy)}`;
  const through = transport(address);
  expect(await through.text({ path: '/a' })).toBe('hello /a');
  expect(await through.text({ path: '/b' })).toBe('hello /b');
  expect(asked).toEqual([`api.test:6443 Basic ${Buffer.from('user:pw').toString('base64')}`]);
  await expect(transport(address, { ca: undefined }).text({ path: '/' })).rejects.toThrow('cannot be trusted');
  await expect(transport(address, { server: 'https://denied.test' }).text({ path: '/' })).rejects.toThrow(
    /https:\/\/denied.test cannot be reached: the proxy 127.0.0.1:\d+ answered 403/,
  );
  expect(await transport(address, { server: 'http://plain.test' }).text({ path: '/c' })).toBe('plain /c');
});

test('a proxy that is not there', async () => {
  const gone = createTcp();
  const at = await listen(gone);
  gone.close();
  await expect(transport(`http://127.0.0.1:${at}`).text({ path: '/' })).rejects.toThrow('gives no connection');
  await expect(transport(`socks5://127.0.0.1:${at}`).text({ path: '/' })).rejects.toThrow(`the proxy 127.0.0.1:${at}`);
});

/** A SOCKS server that wants a name and password; everything leads to the one server. */
async function socksServer(asked: string[]): Promise<number> {
  return listen(
    createTcp((client) => {
      sockets.push(client);
      const steps = [
        () => client.write(Buffer.from([5, 2])),
        (bytes: Buffer) => {
          asked.push(
            bytes
              .subarray(2)
              .toString('latin1')
              .replace(/[^a-z]/g, ' '),
          );
          client.write(Buffer.from([1, bytes.includes('pw') ? 0 : 1]));
        },
        (bytes: Buffer) => {
          asked.push(`${bytes.subarray(5, -2)}:${bytes.readUInt16BE(bytes.length - 2)}`);
          const far = connect(port, '127.0.0.1', () => {
            client.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 80]));
            client.pipe(far).pipe(client);
          });
          sockets.push(far);
        },
      ];
      client.on('data', (bytes: Buffer) => steps.shift()?.(bytes));
    }),
  );
}
test('a SOCKS proxy looks the name up itself', async () => {
  const asked: string[] = [];
  const at = await socksServer(asked);
  expect(await transport(`socks5://user:pw@127.0.0.1:${at}`).text({ path: '/a' })).toBe('hello /a');
  expect(asked).toEqual(['user pw', 'api.test:6443']);
  await expect(transport(`socks5://user:bad@127.0.0.1:${at}`).text({ path: '/' })).rejects.toThrow('does not accept the name and password');
  await expect(transport(`socks5://127.0.0.1:${at}`).text({ path: '/' })).rejects.toThrow('wants another way of logging in');
});
