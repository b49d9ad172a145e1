/** What is too large, too much at once, or takes too long. */
import type http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FRESH_WAIT_MS } from '../../packages/server/src/registry/list.ts';
import { HeldWaits } from '../support/held-waits.ts';
import { type Answer, startTestServer, type TestServer, unique } from '../support/server.ts';

const future = '999999999';

describe('bodies', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  test.each([{ http2: false }, { http2: true }])('more than 3 MiB is 413, declared or measured (HTTP/2: $http2)', async (protocol) => {
    const client = server.client({ token: 'admin-token', ...protocol });
    const path = `/api/v1/namespaces/${await server.namespace()}/configmaps`;
    const body = JSON.stringify({ metadata: { name: 'a' }, data: { x: 'x'.repeat(3 * 1024 * 1024) } });
    const answer = await client.post(path, body);
    expect(answer.json).toMatchObject({
      kind: 'Status',
      code: 413,
      reason: 'RequestEntityTooLarge',
      message: expect.stringContaining('3145728'),
    });
    expect((await client.get(path)).status).toBe(200);
  });

  test('a body without a length is counted as it comes', async () => {
    const path = `/api/v1/namespaces/${await server.namespace()}/configmaps`;
    const status = await new Promise((resolve, reject) => {
      const headers = { authorization: 'Bearer admin-token', 'content-type': 'application/json' };
      const request = https.request(`${server.address}${path}`, { method: 'POST', headers, rejectUnauthorized: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      request.on('error', reject);
      for (let i = 0; i < 4; i++) request.write('x'.repeat(1024 * 1024));
      request.end();
    });
    expect(status).toBe(413);
  });

  test('an object that a kind holds to be too large is 422', async () => {
    const path = `/api/v1/namespaces/${await server.namespace()}/secrets`;
    const answer = await server.admin.post(path, { metadata: { name: 'a' }, stringData: { x: 'x'.repeat(1024 * 1024 + 1) } });
    expect(answer.json).toMatchObject({ code: 422, details: { causes: [{ reason: 'FieldValueTooLong', field: 'data' }] } });
  });
});

describe('requests at once, without priority and fairness', () => {
  const held = new HeldWaits(FRESH_WAIT_MS);
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({
      identity: 'kubernetes',
      enablePriorityAndFairness: false,
      maxRequestsInflight: 1,
      maxMutatingRequestsInflight: 1,
      clock: held.clock,
    });
    await server.admin.ok('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'alice' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
    });
  });
  afterAll(() => server.close());

  const expectBusy = (answer: Answer): void => {
    expect(answer.status).toBe(429);
    expect(answer.headers['retry-after']).toBe('1');
    expect(answer.json).toMatchObject({ kind: 'Status', code: 429, reason: 'TooManyRequests', details: { retryAfterSeconds: 1 } });
  };
  /** Asks until the place is free: the server's own parts need it now and then too. */
  const patiently = async (ask: () => Promise<Answer>): Promise<Answer> => {
    for (;;) {
      const answer = await ask();
      if (answer.status !== 429) return answer;
    }
  };

  test('beyond the limit of reading: 429 and when to come back; watches and super-users are exempt', async () => {
    // It waits for a version that does not come, and holds the only place as long.
    const waiting = patiently(() => server.alice.get(`/api/v1/nodes?resourceVersion=${future}`));
    await held.begun(FRESH_WAIT_MS);
    let refused: Answer | undefined;
    while (refused?.status !== 429) refused = await server.alice.clone().get('/api/v1/nodes');
    expectBusy(refused);
    expect((await server.admin.get('/api/v1/nodes')).status).toBe(200);
    const watch = await server.alice.clone().watch('/api/v1/nodes?watch=1');
    watch.close();
    await held.end(FRESH_WAIT_MS);
    expect((await waiting).status).toBe(504);
    expect((await patiently(() => server.alice.get('/api/v1/nodes'))).status).toBe(200);
  });

  test('changing requests have a limit of their own', async () => {
    const ns = await server.namespace();
    const body = JSON.stringify({ metadata: { name: unique() } });
    const headers = { authorization: 'Bearer alice-token', 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const path = `/api/v1/namespaces/${ns}/configmaps`;
    let request: http.ClientRequest | undefined;
    const answered = new Promise<number>((resolve, reject) => {
      request = https.request(`${server.address}${path}`, { method: 'POST', headers, rejectUnauthorized: false }, (response) => {
        response.resume();
        resolve(response.statusCode as number);
      });
      request.on('error', reject);
      // The rest of the body is held back: the request is under way until it comes.
      request.write(body.slice(0, 5));
    });
    let refused: Answer | undefined;
    while (refused?.status !== 429) refused = await server.alice.clone().post(path, { metadata: { generateName: 'x-' } });
    expectBusy(refused);
    expect((await patiently(() => server.alice.get(path))).status).toBe(200);
    request?.end(body.slice(5));
    expect([201, 429]).toContain(await answered);
    expect((await patiently(() => server.alice.post(path, { metadata: { generateName: 'x-' } }))).status).toBe(201);
  });
});

describe('time', () => {
  const REQUEST_MS = 61_001;
  /** The time of requests is over when a test says so: what must be answered before has all the time that it needs. */
  const held = new HeldWaits(REQUEST_MS, FRESH_WAIT_MS).shared(REQUEST_MS);
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ requestTimeout: REQUEST_MS, clock: held.clock });
  });
  afterAll(() => server.close());

  test('a request that takes longer than --request-timeout is 504; a watch is not', async () => {
    const watch = await server.admin.watch('/api/v1/nodes?watch=1');
    const waiting = server.admin.get(`/api/v1/nodes?resourceVersion=${future}`);
    await held.begun(FRESH_WAIT_MS);
    await held.end(REQUEST_MS);
    expect((await waiting).json).toMatchObject({ code: 504, reason: 'Timeout', message: expect.stringContaining('Timeout') });
    // The wait for the version goes on without its request.
    await held.end(FRESH_WAIT_MS);
    const name = unique('n');
    await server.admin.ok('POST', '/api/v1/nodes', { metadata: { name } });
    expect((await watch.next()).object.metadata.name).toBe(name);
    watch.close();
  });

  test('a body that does not come is 504, and its connection is closed', async () => {
    const socket = connect({ host: '127.0.0.1', port: server.port, ALPNProtocols: ['http/1.1'], rejectUnauthorized: false });
    const head = ['POST /api/v1/nodes HTTP/1.1', 'Host: a', 'Authorization: Bearer admin-token', 'Content-Type: application/json'];
    socket.write([...head, 'Content-Length: 100', '', '{"metadata"'].join('\r\n'));
    const read = async (): Promise<string> => {
      let text = '';
      for await (const chunk of socket) text += chunk;
      return text;
    };
    // Requests of the server itself are under way now and then, too.
    const answer = await held.endUntil(REQUEST_MS, read());
    expect(answer).toMatch(/^HTTP\/1\.1 504 /);
    expect(answer).toMatch(/\r\nConnection: close\r\n/i);
  });

  test('a client that does not take its answer is let go after that time', async () => {
    const path = `/api/v1/namespaces/${await server.namespace()}/secrets`;
    const stringData = { value: 'x'.repeat(700_000) };
    for (let i = 0; i < 14; i++) await server.admin.ok('POST', path, { metadata: { name: `s${i}` }, stringData });
    const { body } = await server.admin.clone().open('GET', path);
    const ended = new Promise((resolve) => body.once('close', () => resolve('closed')).once('error', () => resolve('broken')));
    body.pause();
    await held.end(REQUEST_MS);
    // The last one that is counted is the one who asks.
    const alone = /apiserver_current_inflight_requests\{request_kind="readOnly"\} 1\n/;
    while (!alone.test((await server.admin.get('/metrics')).text));
    body.resume();
    expect(await ended).toBe('broken');
  });

  test('a client of HTTP/2 that opens no window for its answer is let go after that time', async () => {
    const session = http2.connect(server.address, { rejectUnauthorized: false, settings: { initialWindowSize: 0 } });
    const stream = session.request({ ':path': '/api/v1/namespaces', authorization: 'Bearer admin-token' });
    stream.on('error', () => {});
    let bytes = 0;
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    const closed = new Promise((resolve) => stream.once('close', resolve));
    await new Promise((resolve) => stream.once('response', resolve));
    await held.end(REQUEST_MS);
    await closed;
    expect(bytes).toBe(0);
    session.destroy();
  });

  test('the client may ask for less, in its own words', async () => {
    // The wait for the version ends by itself, with a message of its own.
    const waited = server.admin.get(`/api/v1/nodes?resourceVersion=${future}`);
    await held.end(FRESH_WAIT_MS);
    expect((await waited).json).toMatchObject({ code: 504, message: expect.stringContaining('Too large resource version') });
    const answer = await server.admin.get(`/api/v1/nodes?resourceVersion=${future}&timeout=50ms`);
    expect(answer.json).toMatchObject({ code: 504, message: expect.not.stringContaining('Too large resource version') });
    for (const path of ['/api/v1/nodes', '/version', '/api'])
      expect((await server.admin.get(`${path}?timeout=soon`)).status, path).toBe(400);
    expect((await server.admin.get('/version?timeout=3m')).status).toBe(200);
  });
});
