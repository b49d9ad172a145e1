import { createServer as createPlain } from 'node:http';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { FakeClock, systemClock } from '@plat-dev/lib/clock';
import { issueClient, issueServing, newAuthority, readAuthority } from '@plat-dev/pki';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KeptAgents } from './agents.ts';
import type { Connection } from './connection-settings.ts';
import type { Credential } from './credentials.ts';
import { Discovery, resourcePath } from './discovery.ts';
import { requestTrace } from './trace.ts';
import { errorOf, jsonLines, readAll, Transport, type TransportOptions } from './transport.ts';

const issuedAuthority = newAuthority('test-ca', Date.now());
const authority = readAuthority(issuedAuthority);
const serving = issueServing(authority, { commonName: 'server', dns: ['localhost'], addresses: ['127.0.0.1'] }, Date.now());
const client = issueClient(authority, 'alice', ['dev'], Date.now());

const documents: Record<string, unknown> = {
  '/api/v1': {
    resources: [
      { name: 'pods', singularName: '', kind: 'Pod', namespaced: true, verbs: ['get', 'list'], shortNames: ['po'], categories: ['all'] },
      { name: 'pods/status', kind: 'Pod', namespaced: true, verbs: ['get'] },
      { name: 'events', kind: 'Event', namespaced: true, verbs: ['list'] },
    ],
  },
  '/apis': {
    groups: [
      { name: 'apps', versions: [{ version: 'v1' }, { version: 'v1beta1' }], preferredVersion: { version: 'v1' } },
      { name: 'events.example.com', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } },
      { name: 'broken.example.com', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } },
    ],
  },
  '/apis/apps/v1': {
    resources: [
      { name: 'deployments', kind: 'Deployment', namespaced: true, verbs: ['list'], shortNames: ['deploy'], categories: ['all'] },
    ],
  },
  '/apis/apps/v1beta1': { resources: [{ name: 'deployments', kind: 'Deployment', namespaced: true, verbs: ['list'] }] },
  '/apis/events.example.com/v1': { resources: [{ name: 'events', kind: 'Event', namespaced: true, verbs: ['list'] }] },
};
let server: Server;
let finishSlow: () => void = () => {};
let loseConnection: () => void = () => {};
const asked: string[] = [];
beforeAll(async () => {
  server = createServer(
    { key: serving.key, cert: serving.certificate, ca: issuedAuthority.certificate, requestCert: true, rejectUnauthorized: false },
    (req, res) => {
      asked.push(req.url as string);
      const document = documents[req.url as string];
      if (req.url === '/whoami') {
        const socket = req.socket as import('node:tls').TLSSocket;
        res.end(
          JSON.stringify({
            user: socket.getPeerCertificate().subject?.CN,
            token: req.headers.authorization,
            agent: req.headers['user-agent'],
          }),
        );
      } else if (req.url === '/only-new') {
        let body = '';
        req.on('data', (chunk: Buffer) => {
          body += chunk.toString();
        });
        req.on('end', () => {
          const token = req.headers.authorization;
          res.statusCode = token === 'Bearer new' ? 200 : 401;
          res.end(JSON.stringify({ token, body }));
        });
      } else if (req.url === '/headers') {
        res.end(JSON.stringify({ raw: req.rawHeaders }));
      } else if (req.url === '/port') {
        res.end(JSON.stringify({ port: req.socket.remotePort }));
      } else if (req.url === '/slow') {
        res.write('begun');
        finishSlow = () => res.end(', ended');
      } else if (req.url === '/stream') {
        res.write('{"n":1}\n{"n"');
        setImmediate(() => res.end(':2}\n\n{"n":"ä"}'));
      } else if (req.url === '/lost') {
        res.write('{"n":1}\n{"n"');
        // The head must have been read, or the request itself would fail.
        loseConnection = () => res.destroy();
      } else if (req.url === '/warned') {
        res.setHeader('warning', '299 - "one"');
        res.end('{}');
      } else if (req.url === '/hang') {
        // Never answers.
      } else if (req.url === '/conflict') {
        res.statusCode = 409;
        res.end(JSON.stringify({ kind: 'Status', code: 409, reason: 'Conflict', message: 'it changed', details: { name: 'x' } }));
      } else if (document !== undefined) res.end(JSON.stringify(document));
      else {
        res.statusCode = 404;
        res.end('404 page not found\n');
      }
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const connection = (changes: Partial<Connection> = {}): Connection => ({
  server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
  ca: issuedAuthority.certificate,
  certificate: undefined,
  key: undefined,
  authorization: undefined,
  insecure: false,
  serverName: undefined,
  namespace: 'default',
  ...changes,
});
const transport = (changes?: Partial<Connection>): Transport => new Transport(connection(changes), 'test/1', systemClock);

test('credentials reach the server', async () => {
  const withCertificate = transport({ certificate: client.certificate, key: client.key });
  expect(await withCertificate.json({ path: '/whoami' })).toEqual({ user: 'alice', agent: 'test/1' });
  expect(await transport({ authorization: 'Bearer t' }).json({ path: '/whoami' })).toMatchObject({ token: 'Bearer t' });
});

test('a credential that is refused is replaced, and the request sent once more', async () => {
  const made = ['old', 'new', 'newer'];
  let current: Credential = { authorization: `Bearer ${made.shift()}` };
  const refused: Credential[] = [];
  const source = {
    current: async () => current,
    refused: async (credential: Credential) => {
      refused.push(credential);
      current = { authorization: `Bearer ${made.shift()}` };
      return true;
    },
  };
  const renewing = transport({ credentials: source });
  expect(await renewing.json({ path: '/only-new', method: 'POST', body: '{"a":1}' })).toEqual({ token: 'Bearer new', body: '{"a":1}' });
  expect(refused).toEqual([{ authorization: 'Bearer old' }]);
  current = { authorization: 'Bearer gone' };
  // Once more, not again and again.
  await expect(renewing.text({ path: '/only-new' })).rejects.toMatchObject({ code: 401 });
  const fixed = transport({ credentials: { ...source, refused: async () => false } });
  await expect(fixed.text({ path: '/only-new' })).rejects.toMatchObject({ code: 401 });
});

test('another certificate means new connections; what is under way goes on', async () => {
  const bob = issueClient(authority, 'bob', [], Date.now());
  let current: Credential = client;
  const changing = transport({ credentials: { current: async () => current, refused: async () => false } });
  const stream = await changing.open({ path: '/slow' });
  expect(await changing.json({ path: '/whoami' })).toMatchObject({ user: 'alice' });
  current = bob;
  expect(await changing.json({ path: '/whoami' })).toMatchObject({ user: 'bob' });
  finishSlow();
  expect((await readAll(stream.body, 100)).toString()).toBe('begun, ended');
  changing.close();
});

test('headers of impersonation are sent, each group in its own', async () => {
  const impersonation = { 'impersonate-user': 'x', 'impersonate-group': ['a', 'b, c'] };
  const sent = await transport({ impersonation }).json<{ raw: string[] }>({ path: '/headers' });
  expect(sent.raw.filter((_, i, all) => all[i - (i % 2)]?.startsWith('impersonate'))).toEqual([
    'impersonate-user',
    'x',
    'impersonate-group',
    'a',
    'impersonate-group',
    'b, c',
  ]);
});

test('a server with an unknown certificate is not talked to', async () => {
  await expect(transport({ ca: newAuthority('other', Date.now()).certificate }).text({ path: '/api/v1' })).rejects.toThrow(
    'cannot be trusted',
  );
  await expect(transport({ serverName: 'elsewhere.example' }).text({ path: '/api/v1' })).rejects.toThrow('cannot be trusted');
  expect(await transport({ ca: undefined, insecure: true }).text({ path: '/api/v1' })).toContain('pods');
});

test('a refusal of the server becomes an error with its words', async () => {
  await expect(transport().text({ path: '/conflict' })).rejects.toMatchObject({
    code: 409,
    reason: 'Conflict',
    message: 'it changed',
    details: { name: 'x' },
  });
  await expect(transport().text({ path: '/absent' })).rejects.toMatchObject({
    code: 404,
    message: 'the server answered 404: 404 page not found',
  });
  expect(await errorOf(await transport().open({ path: '/absent' }))).toMatchObject({ code: 404 });
});

test('no server, no answer, no patience', async () => {
  const free = createPlain();
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
  const { port } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  await expect(transport({ server: `https://127.0.0.1:${port}` }).text({ path: '/' })).rejects.toThrow('is it running?');
  await expect(transport().text({ path: '/hang', timeout: 20 })).rejects.toThrow('gave no answer in time');
  const stop = new AbortController();
  const waiting = transport().text({ path: '/hang', signal: stop.signal });
  stop.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
});

test('a host that accepts and never speaks is given up', async () => {
  const silent = createTcpServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const server = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const patient = { limits: { connect: 60_000, handshake: 10 } };
  const waiting = new Transport({ ...connection(), server }, 'test/1', systemClock, patient).text({ path: '/' });
  await expect(waiting).rejects.toThrow(`the server at ${server} gave no answer in time`);
  silent.close();
});

test('a timeout is for the whole answer, also where its end does not come', async () => {
  const clock = new FakeClock();
  const timed = (options: TransportOptions = {}): Transport => new Transport(connection(), 'test/1', clock, options);
  const answer = await timed().open({ path: '/slow', timeout: 1000 });
  const read = expect(readAll(answer.body, 1000)).rejects.toMatchObject({ name: 'TransportError', code: 'ETIMEDOUT' });
  await clock.advance(1000);
  await read;
  // A body that nobody reads does not end the process.
  await timed().open({ path: '/slow', timeout: 1000 });
  await clock.advance(1000);
  // An answer that has ended needs no time.
  expect(await timed({ timeout: 1000 }).text({ path: '/warned' })).toBe('{}');
  expect(clock.pending).toBe(0);
  // The time of the transport is for all that is read whole.
  const waiting = expect(timed({ timeout: 1000 }).json({ path: '/hang' })).rejects.toThrow('gave no answer in time');
  await clock.advance(1000);
  await waiting;
});

test('the signal of the transport ends requests that have none', async () => {
  const stop = new AbortController();
  const stopped = new Transport(connection(), 'test/1', systemClock, { signal: stop.signal });
  const waiting = expect(stopped.text({ path: '/hang' })).rejects.toThrow('stopped');
  const own = expect(stopped.text({ path: '/warned', signal: new AbortController().signal })).resolves.toBe('{}');
  await own;
  stop.abort(new Error('stopped'));
  await waiting;
  await expect(stopped.text({ path: '/warned' })).rejects.toThrow('stopped');
});

test('connections that are kept serve the next transport of the same credentials, without what the last one left unfinished', async () => {
  const kept = new KeptAgents();
  const next = (changes?: Partial<Connection>): Transport =>
    new Transport(connection(changes), 'test/1', systemClock, { keptAgents: kept });
  /** The port of its connection: one for each. */
  const portOf = async (one: Transport): Promise<number> => {
    const { port } = await one.json<{ port: number }>({ path: '/port' });
    // A connection is free in the next turn of the loop.
    await new Promise((resolve) => setImmediate(resolve));
    return port;
  };
  const first = next();
  const port = await portOf(first);
  // Two at a time have a connection each.
  const beside = next();
  expect(await portOf(beside)).not.toBe(port);
  first.close();
  const second = next();
  expect(await portOf(second)).toBe(port);
  const other = next({ certificate: client.certificate, key: client.key });
  const otherPort = await portOf(other);
  expect(otherPort).not.toBe(port);
  second.close();
  other.close();
  expect(await portOf(next({ certificate: client.certificate, key: client.key }))).toBe(otherPort);

  const third = next();
  const { body } = await third.open({ path: '/slow' });
  const lost = readAll(body, 1000);
  third.close();
  await expect(lost).rejects.toThrow('the connection to the server was lost');
  const fourth = next();
  expect(await portOf(fourth)).not.toBe(port);
  fourth.close();

  // What is given back later is closed as well.
  const open = (): Promise<number> =>
    new Promise((resolve, reject) => server.getConnections((error, count) => (error ? reject(error) : resolve(count))));
  const before = await open();
  kept.close();
  beside.close();
  await expect.poll(open).toBeLessThanOrEqual(before - 2);
});

test('a stream is read line by line, wherever it is cut', async () => {
  const events: unknown[] = [];
  for await (const event of jsonLines((await transport().open({ path: '/stream' })).body)) events.push(event);
  expect(events).toEqual([{ n: 1 }, { n: 2 }, { n: 'ä' }]);
});

test('a connection that is lost within an answer is reported as that', async () => {
  const lost = 'the connection to the server was lost before the answer was complete';
  const events: unknown[] = [];
  const read = async (): Promise<void> => {
    for await (const event of jsonLines((await transport().open({ path: '/lost' })).body)) {
      events.push(event);
      loseConnection();
    }
  };
  await expect(read()).rejects.toMatchObject({ name: 'TransportError', message: lost });
  expect(events).toEqual([{ n: 1 }]);
  const answer = await transport().open({ path: '/lost' });
  const whole = readAll(answer.body, 1000);
  loseConnection();
  await expect(whole).rejects.toThrow(lost);
});

test('warnings and traces see every answer', async () => {
  const warnings: string[] = [];
  const lines: string[] = [];
  const trace = requestTrace(8, systemClock, (line) => void lines.push(line));
  const traced = new Transport(connection({ authorization: 'Bearer hidden' }), 'test/1', systemClock, {
    onWarning: (header) => void warnings.push(header),
    trace,
  });
  expect(await traced.json({ path: '/warned' })).toEqual({});
  expect(warnings).toEqual(['299 - "one"']);
  await traced.json({ path: '/warned', ignoreWarnings: true });
  expect(warnings).toHaveLength(1);
  const shown = lines.join('');
  expect(shown).toMatch(/GET https:\S+\/warned 200 OK in \d+ milliseconds\n/);
  expect(shown).toContain('> authorization: <masked>\n');
  expect(shown).toContain('Response body: {}\n');
});

test('words of the command line are found among the resources', async () => {
  asked.length = 0;
  const discovery = new Discovery(transport());
  const found = async (word: string): Promise<string> => {
    const r = await discovery.find(word);
    return `${r.group}/${r.version}/${r.name}`;
  };
  expect(await found('po')).toBe('/v1/pods');
  expect(await found('Pod')).toBe('/v1/pods');
  expect(asked.filter((path) => path === '/apis')).toEqual([]);
  expect(await found('events')).toBe('/v1/events');
  expect(await found('events.events.example.com')).toBe('events.example.com/v1/events');
  expect(await found('deploy')).toBe('apps/v1/deployments');
  expect(await found('deployments.apps')).toBe('apps/v1/deployments');
  expect(await found('deployments.v1beta1.apps')).toBe('apps/v1beta1/deployments');
  await expect(found('podz')).rejects.toThrow(`the server doesn't have a resource type "podz" (did you mean pods?)`);
  expect((await discovery.category('all')).map((r) => r.name)).toEqual(['pods', 'deployments']);
  expect(asked.filter((path) => path === '/api/v1')).toHaveLength(1);
});

test('paths', () => {
  const pods = {
    group: '',
    version: 'v1',
    name: 'pods',
    singularName: 'pod',
    kind: 'Pod',
    namespaced: true,
    verbs: [],
    shortNames: [],
    categories: [],
  };
  expect(resourcePath(pods, 'a')).toBe('/api/v1/namespaces/a/pods');
  expect(resourcePath(pods, 'a', 'x/y')).toBe('/api/v1/namespaces/a/pods/x%2Fy');
  expect(resourcePath(pods, undefined)).toBe('/api/v1/pods');
  expect(resourcePath({ ...pods, group: 'g.example', namespaced: false }, 'a', 'n')).toBe('/apis/g.example/v1/pods/n');
});
