import { EventEmitter } from 'node:events';
import { FakeStore } from '@plat-dev/kinds/live-view.testing';
import { FakeClock } from '@plat-dev/lib/clock';
import { Metrics } from '@plat-dev/lib/metrics';
import { SortedMap } from '@plat-dev/lib/sorted-map';
import type { ApiError } from '@plat-dev/meta/errors';
import { expect, test } from 'vitest';
import type { User } from '../auth/types.ts';
import { Context } from '../context.ts';
import type { Incoming, Outgoing } from '../exchange.ts';
import type { Catalog } from '../registry/catalog.ts';
import { requestInfo } from '../request/request-info.ts';
import { Fairness, waitLimit } from './fairness.ts';
import { FlowMetrics } from './flow-metrics.ts';
import { isLongRunning } from './in-flight.ts';
import { Flows } from './request-flow.ts';
import { TURN_WORK, UserShares, WAITING_LIMIT } from './user-shares.ts';

const GROUP = 'flowcontrol.apiserver';
const everything = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};
const REQUEST_MS = 40_000;

/** A server with one level of `seats` seats for everybody, and collections of the given sizes. */
function world(
  seats: number,
  collections: Record<string, { size: number; others?: number; watchers: number }> = {},
  queuing: object | null = { queues: 8, handSize: 2, queueLengthLimit: 2 },
) {
  const clock = new FakeClock();
  const store = new FakeStore();
  const limitResponse = queuing === null ? { type: 'Reject' } : { type: 'Queue', queuing };
  store.put(GROUP, 'prioritylevelconfigurations', {
    metadata: { name: 'all', uid: 'pl' },
    // The mandatory level has 5 shares.
    spec: { type: 'Limited', limited: { assuredConcurrencyShares: seats, limitResponse } },
  } as never);
  store.put(GROUP, 'flowschemas', {
    metadata: { name: 'all', uid: 'fs' },
    spec: {
      priorityLevelConfiguration: { name: 'all' },
      matchingPrecedence: 1000,
      distinguisherMethod: { type: 'ByUser' },
      rules: [{ subjects: [{ kind: 'Group', group: { name: '*' } }], ...everything }],
    },
  } as never);
  const registry = new Metrics({ version: '1.24' });
  const flows = new Flows(store.live, { total: seats + 5, now: () => clock.monotonic(), metrics: new FlowMetrics(registry) });
  const catalog = {
    find: (_group: string, _version: string, resource: string) => {
      const found = collections[resource];
      return found && { collection: { items: sorted(found.size, found.others ?? 0), watchers: found.watchers } };
    },
  } as unknown as Catalog;
  let dropped = 0;
  let due: (() => void)[] = [];
  const shares = new UserShares((call) => void due.push(call));
  /** Ends a turn of the event loop. */
  const turn = async (): Promise<void> => {
    const calls = due;
    due = [];
    for (const call of calls) call();
    await new Promise((resolve) => setImmediate(resolve));
  };
  const fairness = new Fairness({ flows, catalog, clock, requestTimeoutMs: REQUEST_MS, dropped: () => dropped++, shares });
  const ask = (who: string, line: string, changes: Partial<Context> = {}) => {
    const [method = '', path = '/'] = line.split(' ');
    const res = Object.assign(new EventEmitter(), { destroyed: false, destroy: () => end() });
    const req = Object.assign(new EventEmitter(), { method, url: path, httpVersionMajor: 1, headers: {} });
    const ctx = new Context(req as unknown as Incoming, res as unknown as Outgoing, clock.monotonic());
    ctx.info = requestInfo(method, ctx.path, (name) => ctx.param(name));
    ctx.user = { name: who, groups: ['g'] } satisfies User;
    ctx.longRunning = isLongRunning(ctx.info);
    ctx.status = 200;
    Object.assign(ctx, changes);
    const end = (): void => {
      ctx.finished = true;
      for (const done of ctx.onFinished ?? []) done(ctx);
      ctx.onFinished = undefined;
    };
    let state = 'waits';
    const settle = (error?: unknown): void => {
      state = error === undefined ? 'runs' : `rejected ${(error as ApiError).code}`;
    };
    flows.step(ctx);
    try {
      const answer = fairness.step(ctx);
      if (answer instanceof Promise) answer.then(() => settle(), settle);
      else settle();
    } catch (error) {
      settle(error);
    }
    return { ctx, end, state: () => state, settled: () => new Promise((resolve) => setImmediate(resolve)).then(() => state) };
  };
  const level = () => flows.levels.get('all') as NonNullable<ReturnType<Flows['levels']['get']>>;
  return { clock, store, flows, fairness, ask, level, registry, turn, dropped: () => dropped };
}
/** Objects of namespace `a`, and of others. */
function sorted(own: number, others: number): SortedMap<number> {
  const items = new SortedMap<number>();
  for (let i = 0; i < own; i++) items.set(`a/${i}`, i);
  for (let i = 0; i < others; i++) items.set(`b/${i}`, i);
  return items;
}
const pods = 'GET /api/v1/namespaces/a/pods';

test('requests run while there are seats, wait after that, and start as seats become free', async () => {
  const { ask, level } = world(2);
  const [a, b, c] = [ask('u', `${pods}/a`), ask('u', `${pods}/b`), ask('u', `${pods}/c`)];
  expect([a.state(), b.state(), c.state(), level().waiting]).toEqual(['runs', 'runs', 'waits', 1]);
  a.end();
  expect([await c.settled(), level().executing]).toEqual(['runs', 2]);
});

test('what a request waits is time in the queue, also of one that waits when its body has come', async () => {
  const { ask, clock } = world(1);
  const first = ask('u', `${pods}/a`);
  const reader = ask('u', `${pods}/b`);
  await clock.advance(100);
  first.end();
  await reader.settled();
  const headers = { 'content-length': '2' };
  const { ctx } = ask('u', 'POST /api/v1/namespaces/a/pods', {
    req: Object.assign(new EventEmitter(), { headers }) as unknown as Incoming,
  });
  const written = ctx.body?.whole(ctx);
  await clock.advance(30);
  reader.end();
  await written;
  const queued = [reader.ctx, ctx].map(({ timing, started }) => timing.steps(started, clock.monotonic())[0]);
  expect(queued).toEqual([
    { name: 'queue', began: 0, millis: 100 },
    { name: 'queue', began: 100, millis: 30 },
  ]);
  expect(first.ctx.timing.steps(0, 100)).toEqual([{ name: 'handling', millis: 100 }]);
});

test('after a quarter of the request timeout a request is rejected: 429, and when to come back', async () => {
  expect([waitLimit(60_000), waitLimit(3_600_000)]).toEqual([15_000, 60_000]);
  const { ask, clock, level, registry, dropped } = world(1);
  ask('u', `${pods}/a`);
  const late = ask('u', `${pods}/b`);
  await clock.advance(REQUEST_MS / 4 - 1);
  expect(late.state()).toBe('waits');
  await clock.advance(1);
  expect([await late.settled(), level().waiting, level().timedOut, dropped()]).toEqual(['rejected 429', 0, 1, 1]);
  expect(registry.expose()).toContain('rejected_requests_total{priority_level="all",flow_schema="all",reason="time-out"} 1');
});

test('a full queue and a level without queues reject at once', () => {
  const { ask, level } = world(1);
  const states = Array.from({ length: 6 }, () => ask('u', pods).state());
  // One runs, two wait in each queue of the hand.
  expect(states).toEqual(['runs', 'waits', 'waits', 'waits', 'waits', 'rejected 429']);
  expect(level().rejected).toBe(1);
  const strict = world(1, {}, null);
  expect([strict.ask('u', pods).state(), strict.ask('u', pods).state()]).toEqual(['runs', 'rejected 429']);
});

test('a client that goes while it waits leaves its queue', async () => {
  const { ask, level, registry } = world(1);
  const first = ask('u', pods);
  const gone = ask('u', pods);
  gone.end();
  expect([level().waiting, level().cancelled]).toEqual([0, 1]);
  first.end();
  expect([level().executing, level().seatsInUse, level().idle]).toEqual([0, 0, true]);
  expect(registry.expose()).toContain('current_inqueue_requests{priority_level="all",flow_schema="all"} 0');
});

test('lists cost a seat for every hundred objects that are looked at, ten at most', () => {
  const cost = (line: string, size: number): number => world(40, { pods: { size, watchers: 0 } }).ask('u', line).ctx.seating.seats;
  expect([cost(pods, 0), cost(pods, 100), cost(pods, 101), cost(pods, 950), cost(pods, 20_000)]).toEqual([1, 1, 2, 10, 10]);
  expect([cost(`${pods}?limit=100`, 1000), cost(`${pods}?limit=250`, 1000), cost(`${pods}?limit=5000`, 1000)]).toEqual([1, 3, 10]);
  expect([cost(`${pods}?limit=1&labelSelector=a`, 1000), cost(`${pods}?limit=1&resourceVersion=0`, 1000)]).toEqual([10, 10]);
  expect([cost(`${pods}?fieldSelector=metadata.name=a`, 1000), cost(`${pods}/a`, 1000)]).toEqual([1, 1]);
});

test('a list of one namespace costs what its own objects cost', () => {
  const cost = (line: string): number => world(40, { pods: { size: 250, others: 5000, watchers: 0 } }).ask('u', line).ctx.seating.seats;
  expect([cost(pods), cost('GET /api/v1/namespaces/b/pods'), cost('GET /api/v1/namespaces/c/pods'), cost('GET /api/v1/pods')]).toEqual([
    3, 10, 1, 10,
  ]);
});

test('a change that many watch holds seats while its events go out; one that failed does not', async () => {
  const { ask, clock, level } = world(40, { pods: { size: 1, watchers: 200 } });
  const change = ask('u', 'DELETE /api/v1/namespaces/a/pods/a');
  expect(change.ctx.seating.seats).toBe(10);
  change.end();
  expect([level().executing, level().seatsInUse]).toEqual([0, 10]);
  await clock.advance(10);
  expect(level().seatsInUse).toBe(0);
  ask('u', 'DELETE /api/v1/namespaces/a/pods/a', { status: 404 }).end();
  expect(level().seatsInUse).toBe(0);
});

test('a watch holds a seat until it has begun; logs and tunnels hold none', () => {
  const { ask, level } = world(4);
  const watch = ask('u', `${pods}?watch=1`);
  ask('u', `${pods}/a/log`);
  ask('u', 'POST /api/v1/namespaces/a/pods/a/exec');
  expect(level().executing).toBe(1);
  watch.ctx.seating.leave?.(watch.ctx);
  expect(level().executing).toBe(0);
  watch.end();
  expect([level().executing, level().seatsInUse]).toEqual([0, 0]);
});

test("the server's own parts wait in their queue, and run where others are rejected", async () => {
  const { ask, clock, level } = world(1);
  for (let i = 0; i < 5; i++) ask('u', pods);
  expect(ask('u', pods, { inProcess: true }).state()).toBe('runs');
  const patient = ask('other', pods, { inProcess: true });
  expect(patient.state()).toBe('waits');
  await clock.advance(REQUEST_MS / 4);
  expect(patient.state()).toBe('runs');
  expect(level().executing).toBeGreaterThan(1);
});

test('one user floods, another has a seat after few of theirs', async () => {
  const { ask, turn } = world(1, {}, { queues: 64, handSize: 4, queueLengthLimit: 50 });
  const running = [ask('flood', pods)];
  for (let i = 0; i < 150; i++) running.push(ask('flood', pods));
  for (let i = 0; i < 10; i++) await turn();
  const other = ask('other', pods);
  let ended = 0;
  while ((await other.settled()) === 'waits') {
    running.find((one) => one.ctx.seating.seats > 0)?.end();
    ended++;
  }
  expect(ended).toBeLessThanOrEqual(5);
});

test('who does not take an answer loses its seats when the request has had its time', async () => {
  const { ask, clock, level } = world(2);
  const stuck = ask('u', pods);
  await clock.advance(REQUEST_MS);
  expect(level().executing).toBe(1);
  await clock.advance(10_000);
  expect([level().executing, stuck.ctx.finished]).toEqual([0, true]);
});

test('levels and schemas change while requests wait', async () => {
  const { ask, store, flows, level } = world(1);
  const first = ask('u', pods);
  const waiting = ask('u', pods);
  store.put(GROUP, 'prioritylevelconfigurations', {
    metadata: { name: 'all', uid: 'pl' },
    spec: { type: 'Limited', limited: { assuredConcurrencyShares: 100, limitResponse: { type: 'Reject' } } },
  } as never);
  flows.refresh();
  expect([await waiting.settled(), level().limit]).toEqual(['runs', 6]);
  store.remove(GROUP, 'prioritylevelconfigurations', '', 'all');
  flows.refresh();
  const all = () => flows.levels.all().map(({ name, quiescing }) => `${name}${quiescing ? ' quiescing' : ''}`);
  expect(all()).toEqual(['all quiescing', 'catch-all', 'exempt']);
  expect(ask('u', pods).ctx.flow?.level.name).toBe('catch-all');
  first.end();
  waiting.end();
  store.remove(GROUP, 'flowschemas', '', 'all');
  flows.refresh();
  expect(all()).toEqual(['catch-all', 'exempt']);
});

test('requests of one user that come together begin in several turns; those of others in this one', async () => {
  const { ask, turn, level } = world(100);
  const flood = Array.from({ length: 2 * TURN_WORK }, (_, i) => ask('flood', `GET /api/v1/namespaces/n${i}/pods/a`));
  const states = () => flood.filter((one) => one.state() === 'runs').length;
  expect([states(), level().executing, ask('other', `${pods}/a`).state()]).toEqual([TURN_WORK, TURN_WORK, 'runs']);
  await turn();
  expect(states()).toBe(2 * TURN_WORK);
});

test('changes, and watches that begin with all objects, take more of a turn than gets', async () => {
  const begun = (line: string): number => {
    const { ask } = world(100);
    return Array.from({ length: TURN_WORK }, () => ask('u', line)).filter((one) => one.state() === 'runs').length;
  };
  expect(begun(`${pods}/a`)).toBe(TURN_WORK);
  expect(begun('DELETE /api/v1/namespaces/a/pods/a')).toBe(TURN_WORK / 4);
  expect(begun(`${pods}?watch=1&resourceVersion=5`)).toBe(TURN_WORK / 4);
  expect(begun(`${pods}?watch=1`)).toBe(1);
});

test('who waits for a turn holds no seat, and takes none when the client has gone', async () => {
  const { ask, turn, level } = world(100);
  for (let i = 0; i < TURN_WORK; i++) ask('u', `${pods}/a`).end();
  const [gone, last] = [ask('u', `${pods}/a`), ask('u', `${pods}/a`)];
  expect([level().seatsInUse, gone.state(), last.state()]).toEqual([0, 'waits', 'waits']);
  gone.end();
  await turn();
  expect([gone.state(), last.state(), level().executing]).toEqual(['waits', 'runs', 1]);
});

test('rejections begin in their turns, too', async () => {
  const { ask, turn, level } = world(1, {}, null);
  const all = Array.from({ length: 2 * TURN_WORK }, () => ask('u', pods));
  const rejected = () => all.filter((one) => one.state() === 'rejected 429').length;
  expect(rejected()).toBe(TURN_WORK - 1);
  await turn();
  expect([rejected(), level().rejected]).toEqual([2 * TURN_WORK - 1, 2 * TURN_WORK - 1]);
});

test('those who wait for a turn are bounded: one more of that user is rejected, and others are not', () => {
  const { ask } = world(10_000);
  for (let i = 0; i < TURN_WORK + WAITING_LIMIT; i++) ask('flood', `${pods}/a`);
  expect([ask('flood', `${pods}/a`).state(), ask('other', `${pods}/a`).state()]).toEqual(['rejected 429', 'runs']);
});

test('who closes their side waits no longer; who has a seat gets the answer', async () => {
  const { ask } = world(1);
  const [first, second, third] = [ask('u', `${pods}/a`), ask('u', `${pods}/b`), ask('u', `${pods}/c`)];
  expect([await first.settled(), await second.settled()]).toEqual(['runs', 'waits']);
  for (const { ctx } of [first, second]) (ctx.res as unknown as EventEmitter).emit('left');
  expect([first.ctx.finished, second.ctx.finished, second.ctx.seating.waiter]).toEqual([false, true, undefined]);
  first.end();
  expect(await third.settled()).toBe('runs');
});
