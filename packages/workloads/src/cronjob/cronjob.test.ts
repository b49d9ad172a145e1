import { FakeApi, fakeKinds, type Loose, runControllers, type TestRun } from '@plat-dev/controllers/testing';
import { expect, test } from 'vitest';
import { cronJobController } from './controller.ts';
import { type CronJobObject, dueRun, jobsBeyondHistory } from './cronjob.ts';
import { lastTime, parseSchedule } from './schedule.ts';

const iso = (millis: number | undefined): string | undefined =>
  millis === undefined ? undefined : new Date(millis).toISOString().replace('.000', '');
/** The next times of a schedule. */
function times(text: string, after: string, count: number, zone?: string): (string | undefined)[] {
  const schedule = parseSchedule(text, zone);
  const found: (string | undefined)[] = [];
  for (let at: number | undefined = Date.parse(after); found.length < count && at !== undefined; ) {
    at = schedule.next(at);
    found.push(iso(at));
  }
  return found;
}

test('the next times of schedules', () => {
  const cases: [string, string, string[]][] = [
    ['* * * * *', '2024-01-01T00:00:30Z', ['2024-01-01T00:01:00Z', '2024-01-01T00:02:00Z']],
    ['* * * * *', '2024-01-01T00:00:00Z', ['2024-01-01T00:01:00Z']],
    ['*/20 3 * * *', '2024-01-01T03:10:00Z', ['2024-01-01T03:20:00Z', '2024-01-01T03:40:00Z', '2024-01-02T03:00:00Z']],
    ['7-9,50 22-23/1 * * *', '2024-01-01T22:08:00Z', ['2024-01-01T22:09:00Z', '2024-01-01T22:50:00Z', '2024-01-01T23:07:00Z']],
    ['5/25 0 * * *', '2024-01-01T00:00:00Z', ['2024-01-01T00:05:00Z', '2024-01-01T00:30:00Z', '2024-01-01T00:55:00Z']],
    ['0 0 29 2 *', '2024-03-01T00:00:00Z', ['2028-02-29T00:00:00Z']],
    ['0 0 31 * *', '2024-01-31T00:00:00Z', ['2024-03-31T00:00:00Z', '2024-05-31T00:00:00Z']],
    // Both days are named: either of them matches. With a star both have to.
    ['0 0 13 * FRI', '2024-09-01T00:00:00Z', ['2024-09-06T00:00:00Z', '2024-09-13T00:00:00Z', '2024-09-20T00:00:00Z']],
    ['0 0 * jan-mar mon', '2024-03-20T00:00:00Z', ['2024-03-25T00:00:00Z', '2025-01-06T00:00:00Z']],
    ['0 0 */1 * 1', '2024-01-01T00:00:00Z', ['2024-01-08T00:00:00Z']],
    [
      '0 0 */2 * 1',
      '2024-01-01T00:00:00Z',
      ['2024-01-03T00:00:00Z', '2024-01-05T00:00:00Z', '2024-01-07T00:00:00Z', '2024-01-08T00:00:00Z'],
    ],
    ['@hourly', '2024-01-01T00:30:00Z', ['2024-01-01T01:00:00Z']],
    ['@daily', '2024-02-28T00:30:00Z', ['2024-02-29T00:00:00Z']],
    ['@weekly', '2024-01-01T00:30:00Z', ['2024-01-07T00:00:00Z']],
    ['@monthly', '2024-12-15T00:30:00Z', ['2025-01-01T00:00:00Z']],
    ['@yearly', '2024-12-15T00:30:00Z', ['2025-01-01T00:00:00Z']],
    ['@every 1h30m', '2024-01-01T00:00:10Z', ['2024-01-01T01:30:10Z', '2024-01-01T03:00:10Z']],
    ['@every 10ms', '2024-01-01T00:00:10Z', ['2024-01-01T00:00:11Z']],
    ['TZ=Asia/Tokyo 0 9 * * *', '2024-01-01T00:00:00Z', ['2024-01-02T00:00:00Z']],
    ['CRON_TZ=Asia/Kolkata 0 0 1 * *', '2024-01-10T00:00:00Z', ['2024-01-31T18:30:00Z']],
  ];
  for (const [text, after, expected] of cases) expect([text, times(text, after, expected.length)]).toEqual([text, expected]);
  expect(times('0 0 30 2 *', '2024-01-01T00:00:00Z', 1)).toEqual([undefined]);
  expect(() => parseSchedule('61 * * * *')).toThrow('above maximum');
});

test('times that clocks skip do not come, and those that they repeat come twice', () => {
  const cases: [string, string, string, string[]][] = [
    // Forward in Berlin on 2024-03-31 at 02:00, back on 2024-10-27 at 03:00.
    ['30 2 * * *', 'Europe/Berlin', '2024-03-30T00:00:00Z', ['2024-03-30T01:30:00Z', '2024-04-01T00:30:00Z']],
    ['30 2 * * *', 'Europe/Berlin', '2024-10-26T12:00:00Z', ['2024-10-27T00:30:00Z', '2024-10-27T01:30:00Z', '2024-10-28T01:30:00Z']],
    ['0 * * * *', 'Europe/Berlin', '2024-03-31T00:00:00Z', ['2024-03-31T01:00:00Z', '2024-03-31T02:00:00Z']],
    ['0 0 * * *', 'Europe/Berlin', '2024-03-30T12:00:00Z', ['2024-03-30T23:00:00Z', '2024-03-31T22:00:00Z']],
    ['15 0 1 4 *', 'Europe/Berlin', '2024-01-01T00:00:00Z', ['2024-03-31T22:15:00Z']],
    ['0 0 29 2 *', 'Europe/Berlin', '2025-01-01T00:00:00Z', ['2028-02-28T23:00:00Z']],
    ['30 0 10 3 *', 'America/Havana', '2024-01-01T00:00:00Z', ['2025-03-10T04:30:00Z']],
    ['0 1 10 3 *', 'America/Havana', '2024-01-01T00:00:00Z', ['2024-03-10T05:00:00Z']],
    ['15 0 1 11 *', 'America/New_York', '2024-06-01T00:00:00Z', ['2024-11-01T04:15:00Z']],
    // Midnight does not exist in Santiago on 2024-09-08, and comes twice in Havana on 2024-11-03.
    ['0 0 * * *', 'America/Santiago', '2024-09-07T12:00:00Z', ['2024-09-09T03:00:00Z']],
    ['30 1 * * *', 'America/Santiago', '2024-09-07T12:00:00Z', ['2024-09-08T04:30:00Z']],
    ['30 0 * * *', 'America/Havana', '2024-11-02T12:00:00Z', ['2024-11-03T04:30:00Z', '2024-11-03T05:30:00Z', '2024-11-04T05:30:00Z']],
  ];
  for (const [text, zone, after, expected] of cases)
    expect([text, zone, times(text, after, expected.length, zone)]).toEqual([text, zone, expected]);
});

test('every time of a schedule is one that a walk over all minutes finds', () => {
  const show = new Intl.DateTimeFormat('en-US', { timeZone: 'Europe/Berlin', hourCycle: 'h23', hour: 'numeric', minute: 'numeric' });
  const start = Date.parse('2024-10-26T20:00:00Z');
  const found: number[] = [];
  for (let at = start + 60_000; at <= start + 12 * 3_600_000; at += 60_000)
    if (show.format(at) === '02:45' || show.format(at) === '05:45') found.push(at);
  const schedule = parseSchedule('45 2,5 * * *', 'Europe/Berlin');
  const listed: number[] = [];
  for (let at = schedule.next(start); at !== undefined && at <= start + 12 * 3_600_000; at = schedule.next(at)) listed.push(at);
  expect(listed).toEqual(found);
  expect(found).toHaveLength(3);
});

test('the last time of a schedule, and how many there were', () => {
  const last = (text: string, from: string, now: string): unknown => {
    const { time, missed } = lastTime(parseSchedule(text), Date.parse(from), Date.parse(now), 100);
    return [iso(time), missed];
  };
  expect(last('0 * * * *', '2024-01-01T00:00:00Z', '2024-01-01T00:59:59Z')).toEqual([undefined, 0]);
  expect(last('0 * * * *', '2024-01-01T00:00:00Z', '2024-01-01T03:30:00Z')).toEqual(['2024-01-01T03:00:00Z', 3]);
  expect(last('0 9 * * 1-5', '2024-01-05T09:00:00Z', '2024-01-09T08:00:00Z')).toEqual(['2024-01-08T09:00:00Z', 1]);
  expect(last('* * * * *', '2024-01-01T00:00:00Z', '2024-01-02T00:00:00Z')).toEqual(['2024-01-02T00:00:00Z', 1440]);
  expect(last('@every 7m', '2024-01-01T00:00:00Z', '2024-01-01T01:00:00Z')).toEqual(['2024-01-01T00:56:00Z', 8]);
});

const cron = (spec: Loose, status: Loose = {}): CronJobObject =>
  ({ metadata: { name: 'c', namespace: 'a', uid: 'u', creationTimestamp: '2024-01-01T00:00:00Z' }, spec, status }) as CronJobObject;

test('a run is due until its deadline', () => {
  const due = (spec: Loose, now: string, status: Loose = {}): unknown => {
    const { time, wait } = dueRun(cron(spec, status), parseSchedule(spec.schedule), Date.parse(now));
    return [iso(time), (wait ?? 0) / 1000];
  };
  expect(due({ schedule: '0 * * * *' }, '2024-01-01T00:30:00Z')).toEqual([undefined, 1800]);
  expect(due({ schedule: '0 * * * *' }, '2024-01-01T05:30:00Z')).toEqual(['2024-01-01T05:00:00Z', 1800]);
  expect(due({ schedule: '0 * * * *' }, '2024-01-01T05:30:00Z', { lastScheduleTime: '2024-01-01T05:00:00Z' })).toEqual([undefined, 1800]);
  expect(due({ schedule: '0 * * * *', startingDeadlineSeconds: 1800 }, '2024-01-01T05:30:00Z')).toEqual(['2024-01-01T05:00:00Z', 1800]);
  expect(due({ schedule: '0 * * * *', startingDeadlineSeconds: 1799 }, '2024-01-01T05:30:00Z')).toEqual([undefined, 1800]);
  expect(due({ schedule: '@every 40m' }, '2024-01-01T01:00:00Z')).toEqual(['2024-01-01T00:40:00Z', 1200]);
});

test('the oldest finished jobs beyond the limits go', () => {
  const ended = (name: string, type: string, startTime: string): Loose => ({
    metadata: { name },
    status: { startTime, conditions: [{ type, status: 'True' }] },
  });
  const jobs = [
    ended('new', 'Complete', '2024-01-03T00:00:00Z'),
    ended('old', 'Complete', '2024-01-01T00:00:00Z'),
    ended('bad', 'Failed', '2024-01-02T00:00:00Z'),
    { metadata: { name: 'runs' }, status: {} },
  ];
  const gone = (spec: Loose): unknown => jobsBeyondHistory(cron(spec), jobs as Loose).map(({ metadata }) => metadata.name);
  expect(gone({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 })).toEqual(['old', 'bad']);
  expect(gone({ successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 })).toEqual([]);
  expect(gone({})).toEqual([]);
});

// ---- the controller on a fake server ---------------------------------------------------------------------------------

const jobKind = { group: 'batch', version: 'v1', name: 'jobs', kind: 'Job', namespaced: true };
const cronKind = { group: 'batch', version: 'v1', name: 'cronjobs', kind: 'CronJob', namespaced: true };
const eventKind = { group: '', version: 'v1', name: 'events', kind: 'Event', namespaced: true };
const MINUTE = 60_000;

interface World {
  readonly api: FakeApi;
  readonly run: TestRun;
  put(spec: Loose): Promise<void>;
  cron(): Loose;
  jobs(): string[];
  end(name: string, type?: string): Promise<void>;
  events(): string[];
}
function world(timeZones = false): World {
  const api = new FakeApi([jobKind, cronKind, eventKind, fakeKinds.pods]);
  const run = runControllers(api, [cronJobController({ timeZones })]);
  return {
    api,
    run,
    async put(spec) {
      const before = api.get(cronKind, 'a', 'c');
      const creationTimestamp = before?.metadata.creationTimestamp;
      api.put(cronKind, {
        metadata: { name: 'c', namespace: 'a', uid: 'u', ...(creationTimestamp !== undefined && { creationTimestamp }) },
        spec: { schedule: '*/10 * * * *', jobTemplate: { metadata: { labels: { x: 'y' } }, spec: { completions: 1 } }, ...spec },
        status: before?.status ?? {},
      });
      await run.idle();
    },
    cron: () => api.get(cronKind, 'a', 'c'),
    jobs: () => api.all(jobKind).map(({ metadata }) => metadata.name),
    async end(name, type = 'Complete') {
      const object = api.get(jobKind, 'a', name);
      const now = iso(run.clock.now());
      const done = type === 'Complete' ? { completionTime: now } : {};
      api.put(jobKind, { ...object, status: { startTime: now, ...done, conditions: [{ type, status: 'True' }] } });
      await run.idle();
    },
    events: () => api.all(eventKind).map(({ reason, message }) => `${reason}: ${message}`),
  };
}
/** Minutes since 1970 at a minute of the first day of the tests. */
const nameAt = (minute: number): string => `c-${Date.UTC(2024, 0, 1) / MINUTE + minute}`;

test('a job is created at each time, and the status follows it', async () => {
  const { api, run, put, cron: now, jobs, end, events } = world();
  await put({});
  await run.pass(10 * MINUTE - 1);
  expect(jobs()).toEqual([]);
  await run.pass(1);
  expect(jobs()).toEqual([nameAt(10)]);
  expect(api.get(jobKind, 'a', nameAt(10))).toMatchObject({
    metadata: { labels: { x: 'y' }, ownerReferences: [{ kind: 'CronJob', name: 'c', uid: 'u', controller: true }] },
    spec: { completions: 1 },
  });
  expect(now().status).toMatchObject({
    lastScheduleTime: '2024-01-01T00:10:00Z',
    active: [{ kind: 'Job', apiVersion: 'batch/v1', name: nameAt(10) }],
  });
  await run.pass(MINUTE);
  await end(nameAt(10));
  expect(now().status).toEqual({ lastScheduleTime: '2024-01-01T00:10:00Z', lastSuccessfulTime: '2024-01-01T00:11:00Z' });
  await run.pass(9 * MINUTE);
  expect(jobs()).toEqual([nameAt(10), nameAt(20)]);
  expect(events()).toEqual([
    `SuccessfulCreate: Created job ${nameAt(10)}`,
    `SawCompletedJob: Saw completed job: ${nameAt(10)}, status: Complete`,
    `SuccessfulCreate: Created job ${nameAt(20)}`,
  ]);
  expect(run.failures).toEqual([]);
  await run.stop();
});

test('a job that still runs allows, forbids or is replaced by the next', async () => {
  for (const [concurrencyPolicy, expected] of [
    ['Allow', [nameAt(10), nameAt(20)]],
    ['Forbid', [nameAt(10)]],
    ['Replace', [nameAt(20)]],
  ] as const) {
    const { run, put, cron: now, jobs, end, events } = world();
    await put({ concurrencyPolicy });
    await run.pass(20 * MINUTE);
    expect([concurrencyPolicy, jobs(), now().status.active.map(({ name }: Loose) => name)]).toEqual([
      concurrencyPolicy,
      expected,
      expected,
    ]);
    if (concurrencyPolicy === 'Forbid') {
      expect(events()).toContain('JobAlreadyActive: Not starting job because prior execution is running and concurrency policy is Forbid');
      // The run that had to wait starts when the job has ended.
      await end(nameAt(10), 'Failed');
      expect(jobs()).toEqual([nameAt(10), nameAt(20)]);
    }
    await run.stop();
  }
});

test('a suspended cron job creates nothing, and afterwards the last missed run within the deadline', async () => {
  const { run, put, jobs, events } = world();
  await put({ suspend: true });
  await run.pass(45 * MINUTE);
  expect(jobs()).toEqual([]);
  await put({ startingDeadlineSeconds: 60 });
  expect([jobs(), events()]).toEqual([[], ['MissSchedule: Missed scheduled time to start a job: Mon, 01 Jan 2024 00:40:00 +0000']]);
  await put({});
  expect(jobs()).toEqual([nameAt(40)]);
  await run.stop();
});

test('more than a hundred missed runs are reported, and the last one starts', async () => {
  const { run, put, jobs, events } = world();
  await put({ schedule: '* * * * *', suspend: true });
  await run.pass(150 * MINUTE);
  await put({ schedule: '* * * * *' });
  expect(jobs()).toEqual([nameAt(150)]);
  expect(events()[0]).toBe(
    'TooManyMissedTimes: too many missed start times: 150. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
  );
  await run.stop();
});

test('old finished jobs are removed', async () => {
  const { run, put, jobs, end } = world();
  await put({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 1 });
  for (let i = 1; i <= 6; i++) {
    await run.pass(10 * MINUTE);
    await end(nameAt(10 * i), i % 2 === 0 ? 'Failed' : 'Complete');
  }
  expect(jobs()).toEqual([nameAt(50), nameAt(60)]);
  await run.stop();
});

test('a job that is gone or was created by hand is reported', async () => {
  const { api, run, put, cron: now, events } = world();
  await put({});
  await run.pass(10 * MINUTE);
  const made = api.get(jobKind, 'a', nameAt(10));
  await api.remove(jobKind, 'a', nameAt(10));
  await run.idle();
  expect([now().status.active, events().at(-1)]).toEqual([undefined, `MissingJob: Active job went missing: ${nameAt(10)}`]);
  api.put(jobKind, { metadata: { name: 'manual', namespace: 'a', ownerReferences: made.metadata.ownerReferences }, status: {} });
  await run.idle();
  expect(events().at(-1)).toBe('UnexpectedJob: Saw a job that the controller did not create or forgot: manual');
  await run.stop();
});

test('the time zone of the spec has an effect behind its gate', async () => {
  for (const timeZones of [false, true]) {
    const { run, put, jobs } = world(timeZones);
    await put({ schedule: '0 5 * * *', timeZone: 'Asia/Kolkata' });
    await run.pass(5 * 60 * MINUTE);
    expect(jobs()).toEqual(timeZones ? [] : [nameAt(300)]);
    await run.pass(18.5 * 60 * MINUTE);
    expect(jobs()).toEqual(timeZones ? [nameAt(23.5 * 60)] : [nameAt(300)]);
    await run.stop();
  }
});

test('a job whose creation was not written into the status is not created again', async () => {
  const { api, run, put, cron: now, jobs } = world();
  await put({});
  let fail = true;
  api.before = (method) => {
    if (method === 'PUT' && fail) {
      fail = false;
      FakeApi.refuse(409, 'Conflict');
    }
  };
  await run.pass(10 * MINUTE);
  await run.pass(1000);
  expect([jobs(), now().status.active.length]).toEqual([[nameAt(10)], 1]);
  await run.stop();
});
