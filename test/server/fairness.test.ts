/** Priority and fairness of a whole server: a flood of one user, unfinished bodies, what is left of refused ones. */
import http2 from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../packages/lib/src/clock.ts';
import { LOOK_MS, USER_COUNT } from '../../packages/server/src/fairness/bodies.ts';
import { waitLimit } from '../../packages/server/src/fairness/fairness.ts';
import { FRESH_WAIT_MS } from '../../packages/server/src/registry/list.ts';
import { HeldWaits } from '../support/held-waits.ts';
import { type Answer, startTestServer, type TestServer, unique } from '../support/server.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
const flowcontrol = '/apis/flowcontrol.apiserver.k8s.io/v1beta2';
const debug = '/debug/api_priority_and_fairness';
const future = '999999999';

/** Lets a user do everything, without making a super-user of it. */
const empower = (server: TestServer, name: string) =>
  server.admin.ok('POST', rbac, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
  });

/** A connection of HTTP/1.1 that keeps what it was answered. */
class Raw {
  readonly socket: TLSSocket;
  text = '';
  closed = false;
  private waiting: (() => void)[] = [];
  constructor(server: TestServer) {
    this.socket = connect({ host: '127.0.0.1', port: server.port, ALPNProtocols: ['http/1.1'], rejectUnauthorized: false });
    this.socket.on('data', (chunk: Buffer) => {
      this.text += chunk.toString();
      this.wake();
    });
    this.socket.on('error', () => {});
    this.socket.on('close', () => {
      this.closed = true;
      this.wake();
    });
  }
  private wake(): void {
    for (const go of this.waiting.splice(0)) go();
  }
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
  /** The head of a request whose body does not come. */
  begin(line: string, token: string, length = 100_000, more = ''): this {
    this.socket.write(
      `${line} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${more}\r\n{"met`,
    );
    return this;
  }
}

/** Bodies that are late are not looked for: a busy machine may take longer for all of them than each may take. */
const patient: Clock = { ...systemClock, every: (millis, call) => (millis === LOOK_MS ? () => {} : systemClock.every(millis, call)) };
const CONNECTIONS_AT_ONCE = 25;

describe('with the flows of a first start', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({
      identity: 'kubernetes',
      maxRequestsInflight: 40,
      maxMutatingRequestsInflight: 20,
      requestTimeout: 240_000,
      clock: patient,
    });
    await empower(server, 'alice');
    await empower(server, 'bob');
  });
  afterAll(() => server.close());

  test('unfinished bodies of one user keep nobody from writing, not even that user; the oldest are refused beyond the bound', async () => {
    const path = `/api/v1/namespaces/${await server.namespace()}/configmaps`;
    const flood: Raw[] = [];
    while (flood.length < USER_COUNT + CONNECTIONS_AT_ONCE) {
      const more = Array.from({ length: CONNECTIONS_AT_ONCE }, () => new Raw(server).begin(`POST ${path}`, 'alice-token'));
      await Promise.all(more.map(({ socket }) => new Promise((resolve) => socket.once('secureConnect', resolve))));
      flood.push(...more);
    }
    const refused = () => flood.filter(({ text }) => text.startsWith('HTTP/1.1 429'));
    for (const one of flood.slice(0, CONNECTIONS_AT_ONCE)) await one.until(() => one.text !== '' || one.closed);
    expect(refused().length).toBe(CONNECTIONS_AT_ONCE);
    expect(refused()[0]?.text).toMatch(/Retry-After: 1/i);
    for (const client of [server.bob, server.alice]) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => client.post(path, { metadata: { name: unique() } })));
      expect(answers.map(({ status }) => status)).toEqual(new Array(20).fill(201));
    }
    const levels = (await server.admin.get(`${debug}/dump_priority_levels`)).text;
    expect(levels).toMatch(/^global-default, .*true, +false, +0, +0,/m);
    // A node renews its lease meanwhile, and a controller does its work: a new namespace gets its account.
    const node = server.client({
      token: 'admin-token',
      headers: { 'impersonate-user': 'system:node:n', 'impersonate-group': 'system:nodes' },
    });
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    expect((await node.post(leases, { metadata: { name: 'n' }, spec: { holderIdentity: 'n' } })).status).toBe(201);
    const renewals = await Promise.all(Array.from({ length: 20 }, () => node.patch(`${leases}/n`, { spec: { leaseDurationSeconds: 40 } })));
    expect(new Set(renewals.map(({ status }) => status))).toEqual(new Set([200]));
    const account = `/api/v1/namespaces/${await server.namespace()}/serviceaccounts/default`;
    while ((await server.admin.get(account)).status !== 200);
    for (const { socket } of flood) socket.destroy();
  });

  test('long lists that wait for seats keep nobody from those that are free', async () => {
    const path = `/api/v1/namespaces/${await server.namespace()}/configmaps`;
    for (let i = 0; i < 350; i += 50)
      await Promise.all(
        Array.from({ length: 50 }, () => server.admin.ok('POST', path, { metadata: { name: unique() }, data: { a: 'x'.repeat(1000) } })),
      );
    // Of the five seats of this level the first list takes four; nobody reads it, so that it goes on and the others wait.
    const session = http2.connect(server.address, { rejectUnauthorized: false });
    session.on('error', () => {});
    const lists = Array.from({ length: 3 }, () => session.request({ ':path': path, authorization: 'Bearer alice-token' }));
    for (const list of lists) list.on('error', () => {});
    const levels = async () => (await server.admin.get(`${debug}/dump_priority_levels`)).text;
    while (!/^global-default, .*false, +false, +2, +1,/m.test(await levels()));
    const answers = await Promise.all(Array.from({ length: 20 }, () => server.bob.get(`${path}/none`)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
    session.destroy();
    while (!/^global-default, .*true, +false, +0, +0,/m.test(await levels()));
  });

  test('a user without rights is refused before its body is read, and the connection does not stay', async () => {
    const one = new Raw(server);
    one.begin('POST /api/v1/namespaces/default/configmaps', 'none-token');
    await one.until(() => one.text.startsWith('HTTP/1.1 401'));
    await one.until(() => one.closed);
    const tooLarge = new Raw(server).begin('POST /api/v1/namespaces/default/configmaps', 'alice-token', 4_000_000);
    await tooLarge.until(() => tooLarge.text.startsWith('HTTP/1.1 413'));
    await tooLarge.until(() => tooLarge.closed);
  });

  test('HTTP/2: a stream whose request was refused is closed though its body goes on', async () => {
    const session = http2.connect(server.address, { rejectUnauthorized: false });
    const stream = session.request({ ':method': 'POST', ':path': '/api/v1/namespaces/default/pods', authorization: 'Bearer none' });
    stream.on('error', () => {});
    stream.write('{');
    stream.resume();
    const status = await new Promise((resolve) => stream.once('response', (headers) => resolve(headers[':status'])));
    await new Promise((resolve) => stream.once('close', resolve));
    expect(status).toBe(401);
    session.destroy();
  });

  test('metrics and debug pages have the names of a stock server, and need a right', async () => {
    await server.bob.get('/api/v1/nodes');
    const metrics = (await server.admin.get('/metrics')).text;
    for (const name of [
      'dispatched_requests_total',
      'request_concurrency_in_use',
      'current_executing_requests',
      'current_inqueue_requests',
    ])
      expect(metrics).toContain(`apiserver_flowcontrol_${name}{priority_level="global-default",flow_schema="global-default"}`);
    expect(metrics).toContain('apiserver_flowcontrol_request_concurrency_limit{priority_level="global-default"} 5');
    expect(metrics).toMatch(
      /request_wait_duration_seconds_count\{priority_level="global-default",flow_schema="global-default",execute="true"} [1-9]/,
    );
    const head = (page: string) => server.admin.get(`${debug}/${page}`).then(({ text }) => text.split('\n')[0]?.replaceAll(/,\s+/g, ','));
    expect(await head('dump_queues')).toBe(
      'PriorityLevelName,Index,PendingRequests,ExecutingRequests,SeatsInUse,NextDispatchR,InitialSeatsSum,MaxSeatsSum,TotalWorkSum',
    );
    expect(await head('dump_requests?includeRequestDetails=1')).toMatch(/^PriorityLevelName,FlowSchemaName,.*,UserName,Verb,APIPath,/);
    expect((await server.anonymous.get(`${debug}/dump_queues`)).status).toBe(403);
  });
});

describe('with one seat for a level', () => {
  const REQUEST_MS = 120_004;
  /** Waits for a seat, and for a version, are over when a test says so. */
  const waits = new HeldWaits(waitLimit(REQUEST_MS), FRESH_WAIT_MS);
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({
      identity: 'kubernetes',
      maxRequestsInflight: 20,
      maxMutatingRequestsInflight: 20,
      requestTimeout: REQUEST_MS,
      clock: waits.clock,
    });
    for (const name of ['alice', 'bob']) await empower(server, name);
    await level('narrow', { type: 'Queue', queuing: { queues: 16, handSize: 1, queueLengthLimit: 2 } });
    await server.admin.ok('POST', `${flowcontrol}/flowschemas`, {
      metadata: { name: 'narrow' },
      spec: {
        priorityLevelConfiguration: { name: 'narrow' },
        matchingPrecedence: 500,
        distinguisherMethod: { type: 'ByUser' },
        rules: [
          {
            subjects: ['alice', 'bob'].map((name) => ({ kind: 'User', user: { name } })),
            resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
          },
        ],
      },
    });
  });
  afterAll(() => server.close());

  const level = (name: string, limitResponse: object) =>
    server.admin.ok('POST', `${flowcontrol}/prioritylevelconfigurations`, {
      metadata: { name },
      spec: { type: 'Limited', limited: { assuredConcurrencyShares: 1, limitResponse } },
    });
  /** Holds a seat until the request ends: it waits for a version that does not come. */
  const hold = (): Promise<Answer> => server.alice.clone().get(`/api/v1/nodes?resourceVersion=${future}`);

  /** Waits until a column of the level (4: waiting, 5: executing) says 1. */
  const seen = async (column: number): Promise<void> => {
    for (;;) {
      const { text } = await server.admin.get(`${debug}/dump_priority_levels`);
      if ((/^narrow,.*$/m.exec(text)?.[0] ?? '').split(/,\s*/)[column] === '1') return;
    }
  };

  test('who finds no seat waits, is shown, and is rejected after a quarter of the timeout; others are as before', async () => {
    const held = hold();
    await seen(5);
    const late = server.bob.clone().get('/api/v1/nodes');
    await seen(4);
    const requests = (await server.admin.get(`${debug}/dump_requests?includeRequestDetails=1`)).text;
    expect(requests).toMatch(/^narrow, +narrow, +\d+, +0, +bob, .*bob, +list, +\/api\/v1\/nodes,/m);
    expect((await server.admin.get('/api/v1/nodes')).status).toBe(200);
    await waits.end(waitLimit(REQUEST_MS));
    const rejected = await late;
    expect([rejected.status, rejected.headers['retry-after'], rejected.json.reason]).toEqual([429, '1', 'TooManyRequests']);
    expect(rejected.headers['x-kubernetes-pf-prioritylevel-uid']).toBeDefined();
    await waits.end(FRESH_WAIT_MS);
    await held;
    expect((await server.bob.get('/api/v1/nodes')).status).toBe(200);
  });

  test('a body waits for a seat after it was read, and is stored when the level gets more', async () => {
    const ns = await server.namespace();
    const held = hold();
    await seen(5);
    const made = server.bob.post(`/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: 'late' } });
    await seen(4);
    await server.admin.patch(`${flowcontrol}/prioritylevelconfigurations/narrow`, { spec: { limited: { assuredConcurrencyShares: 100 } } });
    // Any request makes the server look at its levels again.
    await server.admin.get('/api/v1/nodes');
    expect((await made).status).toBe(201);
    await waits.end(FRESH_WAIT_MS);
    await held;
  });

  test('a watch takes no seat once it has begun', async () => {
    const watches = [];
    for (let i = 0; i < 5; i++) watches.push(await server.alice.clone().watch('/api/v1/nodes?watch=1'));
    expect((await server.bob.get('/api/v1/nodes')).status).toBe(200);
    for (const watch of watches) watch.close();
  });
});

test('--enable-priority-and-fairness=false: no headers, no debug pages', async () => {
  const server = await startTestServer({ enablePriorityAndFairness: false });
  const answer = await server.admin.get('/api/v1/namespaces');
  expect([answer.status, answer.headers['x-kubernetes-pf-flowschema-uid']]).toEqual([200, undefined]);
  expect((await server.admin.get(`${debug}/dump_queues`)).status).toBe(404);
  await server.close();
});

describe('before anybody is known', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ identity: 'kubernetes', maxConnectionsPerAddress: 40 });
  });
  afterAll(() => server.close());

  test('the body of a request that asks to switch protocols is not read before it is authenticated', async () => {
    const more = 'Connection: Upgrade\r\nUpgrade: h2c\r\n';
    const strangers = Array.from({ length: 20 }, () =>
      new Raw(server).begin('POST /api/v1/namespaces/default/configmaps', 'none-token', 3_000_000, more),
    );
    // On its own, each would keep 3 MB at the server until it is whole.
    for (const one of strangers) {
      await one.until(() => one.closed);
      expect(one.text).toMatch(/^HTTP\/1\.1 401 /);
    }
    const body = JSON.stringify({ metadata: { name: 'switched' }, data: { value: 'x'.repeat(200_000) } });
    const known = new Raw(server);
    known.socket.write(
      `POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer admin-token\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${more}\r\n${body.slice(0, 10)}`,
    );
    known.socket.write(body.slice(10));
    await known.until(() => known.text.startsWith('HTTP/1.1 201'));
  });

  test('more connections from an address than allowed are closed as they come, and counted', async () => {
    const many = Array.from({ length: 60 }, () => new Raw(server));
    await Promise.all(
      many.map(
        (one) =>
          new Promise<void>((resolve) => {
            one.socket.once('secureConnect', resolve);
            one.socket.once('close', () => resolve());
          }),
      ),
    );
    const open = many.filter(({ closed }) => !closed);
    expect(open.length).toBeGreaterThan(20);
    expect(open.length).toBeLessThanOrEqual(40);
    for (const { socket } of open) socket.destroy();
    let answer: Answer | undefined;
    while (answer?.status !== 200)
      answer = await server
        .client({ token: 'admin-token' })
        .get('/metrics')
        .catch(() => undefined);
    expect(answer.text).toMatch(/apiserver_refused_connections_total\{bound="address"} [1-9]/);
  });
});
