/** A port with TLS: handshakes, and how it ends. */
import https from 'node:https';
import { connect } from 'node:tls';
import { systemClock } from '@plat-dev/lib/clock';
import { issueServing, newAuthority, readAuthority } from '@plat-dev/pki';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Outgoing } from '../exchange.ts';
import { RawClient } from '../http1/http1.testing.ts';
import { type Listener, type ListenOptions, listen } from './listen.ts';
import { fixedTls } from './tls.ts';

let listener: Listener;
/** One whose handshakes time out soon. */
let hasty: Listener;
const held: Outgoing[] = [];
const answer = (res: Outgoing): void => {
  (res as unknown as { writeHead(status: number, headers: string[]): void }).writeHead(200, ['Content-Length', '2']);
  res.end(Buffer.from('ok'));
};
beforeAll(async () => {
  const now = Date.now();
  const issued = issueServing(readAuthority(newAuthority('ca', now)), { commonName: 'a', dns: ['a'], addresses: ['127.0.0.1'] }, now);
  const options: ListenOptions = {
    host: '127.0.0.1',
    port: 0,
    tls: fixedTls(issued),
    clock: systemClock,
    handle: (req, res) => {
      if (req.url === '/held') held.push(res);
      else answer(res);
    },
  };
  listener = await listen(options);
  hasty = await listen({ ...options, handshakeMs: 20 });
});
afterAll(async () => {
  listener.abort();
  await hasty.close();
});

test('a handshake that does not come in time, or is none, closes the connection', async () => {
  const silent = new RawClient(hasty.port);
  await silent.until(({ closed }) => closed);
  const wrong = new RawClient(listener.port);
  await wrong.send('no handshake at all');
  await wrong.until(({ closed }) => closed);
  expect(silent.text).toBe('');
});

test('plain HTTP is answered in plain HTTP, and the connection is closed', async () => {
  const plain = new RawClient(listener.port);
  await plain.send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await plain.until(({ closed }) => closed);
  expect(plain.text).toContain('Client sent an HTTP request to an HTTPS server.');
});

test('no client has another handshake on its connection', async () => {
  const options = { host: '127.0.0.1', port: listener.port, rejectUnauthorized: false, maxVersion: 'TLSv1.2' } as const;
  const client = connect(options);
  await new Promise((resolve) => client.once('secureConnect', resolve));
  const refusal = await new Promise<Error | null>((resolve) => {
    client.on('error', resolve);
    client.renegotiate({ rejectUnauthorized: false }, resolve);
  });
  client.destroy();
  expect(String(refusal)).toMatch(/renegotiation/i);
});

test('a port closes when its last request is answered, whatever connections are idle', async () => {
  const ask = (agent: https.Agent, path: string): Promise<string> =>
    new Promise((resolve, reject) => {
      https
        .get({ host: '127.0.0.1', port: listener.port, path, agent }, (response) => {
          let text = '';
          response.on('data', (chunk) => {
            text += chunk;
          });
          response.on('end', () => resolve(text));
        })
        .on('error', reject);
    });
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
  expect(await ask(agent, '/')).toBe('ok');
  const other = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
  const late = ask(other, '/held');
  const fresh = connect({ host: '127.0.0.1', port: listener.port, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
  await new Promise((resolve) => fresh.once('secureConnect', resolve));
  while (held.length === 0) await new Promise(setImmediate);
  let closed = false;
  const closing = listener.close().then(() => {
    closed = true;
  });
  await new Promise((resolve) => fresh.once('close', resolve).resume());
  expect(closed).toBe(false);
  answer(held[0] as Outgoing);
  expect(await late).toBe('ok');
  await closing;
  agent.destroy();
  other.destroy();
});
