import { expect, test } from 'vitest';
import { create, type Loose, testEnv, update, withFeatures } from '../validation/kinds.testing.ts';
import { CronJobKind } from './cron-job.ts';
import { JobKind } from './job.ts';
import { scheduleProblem } from './schedule.ts';

const podSpec = { restartPolicy: 'Never', containers: [{ name: 'work', image: 'work:1' }] };
const job = (spec: Loose = {}, metadata: Loose = {}): Loose => ({
  metadata: { name: 'j', ...metadata },
  spec: { template: { spec: podSpec }, ...spec },
});
const cron = (spec: Loose = {}, name = 'c'): Loose => ({
  metadata: { name },
  spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: { spec: podSpec } } }, ...spec },
});
const like = (texts: string[]): Loose[] => texts.map((text) => expect.stringContaining(text));

test('a job finds its pods by its own uid', () => {
  const { object, errors } = create(JobKind, job());
  expect(errors).toEqual([]);
  expect(object.spec).toMatchObject({ parallelism: 1, completions: 1, backoffLimit: 6, completionMode: 'NonIndexed', suspend: false });
  expect(object.spec.selector).toEqual({ matchLabels: { 'controller-uid': 'u-1' } });
  expect(object.spec.template.metadata.labels).toEqual({ 'job-name': 'j', 'controller-uid': 'u-1' });
  expect(object.metadata.labels).toEqual({ 'job-name': 'j', 'controller-uid': 'u-1' });
});

test('or by a selector that its author answers for', () => {
  const template = { metadata: { labels: { mine: 'yes' } }, spec: podSpec };
  const selector = { matchLabels: { mine: 'yes' } };
  const { object, errors } = create(JobKind, job({ template, selector, manualSelector: true }));
  expect(errors).toEqual([]);
  expect(object.metadata.labels).toEqual({ mine: 'yes' });
  expect(create(JobKind, job({ template, selector })).errors).toEqual(
    like([
      'spec.selector | Invalid | Invalid value: v1.LabelSelector{MatchLabels:map[string]string{"controller-uid":"u-1", "mine":"yes"}, MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: `selector` not auto-generated',
    ]),
  );
  expect(create(JobKind, job({ manualSelector: true })).errors).toEqual(like(['spec.selector | Required', 'map[string]string(nil)']));
});

test.each<[string, Loose, string[]]>([
  ['negative', { parallelism: -1, completions: -1, backoffLimit: -1 }, ['spec.parallelism', 'spec.completions', 'spec.backoffLimit']],
  ['mode', { completionMode: 'Odd' }, ['spec.completionMode | NotSupported']],
  [
    'indexes without a number',
    { completionMode: 'Indexed', parallelism: 100_001 },
    ['spec.completions | Required | Required value: when completion mode is Indexed', 'spec.parallelism | Invalid'],
  ],
  [
    'pods that never end',
    { template: { spec: { ...podSpec, restartPolicy: 'Always' } } },
    ['spec.template.spec.restartPolicy | Required | Required value: valid values: "OnFailure", "Never"'],
  ],
])('jobs: %s', (_name, spec, texts) => {
  expect(create(JobKind, job(spec)).errors).toEqual(like(texts));
});

test('hosts of an indexed job have names', () => {
  const name = 'a'.repeat(62);
  expect(create(JobKind, job({ completionMode: 'Indexed', completions: 5 }, { name })).errors).toEqual(
    like([`metadata.name | Invalid | Invalid value: "${name}": will not able to create pod with invalid DNS label: ${name}-4`]),
  );
});

test('the template of a job is fixed, but for the place of one that waits', () => {
  const place = ({ spec }: Loose) => {
    spec.template.spec.nodeSelector = { zone: 'a' };
    spec.template.spec.affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: {} }] } };
  };
  const grace = ({ spec }: Loose) => {
    spec.template.spec.terminationGracePeriodSeconds = 4;
  };
  const waiting = create(JobKind, job({ suspend: true })).object;
  const placed = update(JobKind, waiting, place);
  expect(placed.errors).toEqual([]);
  expect(
    update(JobKind, placed.object, ({ spec }) => {
      delete spec.template.spec.affinity;
    }).errors,
  ).toEqual([]);
  expect(update(JobKind, waiting, grace).errors).toEqual(like(['spec.template | Invalid']));
  expect(update(JobKind, create(JobKind, job()).object, place).errors).toEqual(like(['spec.template | Invalid']));
  expect(update(JobKind, { ...waiting, status: { startTime: '2024-01-01T00:00:00Z' } }, place).errors).toEqual(
    like(['spec.template | Invalid']),
  );
  expect(
    update(JobKind, waiting, ({ spec }) => {
      spec.completions = 3;
    }).errors,
  ).toEqual(like(['spec.completions | Invalid | Invalid value: 3: field is immutable']));
});

test('the status of a job counts', () => {
  const { object } = create(JobKind, job());
  const report = (status: Loose) => update(JobKind, object, (changed) => Object.assign(changed, { status }), 'status').errors;
  expect(report({ active: -1, uncountedTerminatedPods: { succeeded: ['a', ''], failed: ['a'] } })).toEqual(
    like(['status.active | Invalid', 'succeeded[1] | Invalid', 'failed[0] | Duplicate']),
  );
});

test('rows of jobs and cron jobs', () => {
  const { object } = create(JobKind, job({ completions: 3 }));
  object.status = { succeeded: 1, startTime: '2024-01-02T03:03:05Z' };
  expect(JobKind.cells?.(object as never, testEnv)).toEqual(['j', 'Running', '1/3', '60s', '27h', 'work', 'work:1', 'controller-uid=u-1']);
  const open = create(JobKind, job({ parallelism: 4 })).object;
  expect(JobKind.cells?.(open as never, testEnv)?.slice(2, 4)).toEqual(['0/1 of 4', '']);
  const scheduled = create(CronJobKind, cron({ suspend: true })).object;
  scheduled.status = { active: [{}], lastScheduleTime: '2024-01-02T03:02:05Z' };
  expect(CronJobKind.cells?.(scheduled as never, testEnv)).toEqual([
    'c',
    '*/5 * * * *',
    '<none>',
    'True',
    1,
    '2m',
    '27h',
    'work',
    'work:1',
    '<none>',
  ]);
});

test('cron jobs: defaults, and the time zone that is dropped', () => {
  const { object } = create(CronJobKind, cron({ timeZone: 'Europe/Berlin' }));
  expect(object.spec).toMatchObject({
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  });
  expect(object.spec.timeZone).toBeUndefined();
  expect(object.spec.jobTemplate.spec.backoffLimit).toBeUndefined();
  const zoned = (timeZone: string, schedule = '@daily') =>
    create(CronJobKind, cron({ timeZone, schedule }), withFeatures('CronJobTimeZone')).errors;
  expect(zoned('Europe/Berlin')).toEqual([]);
  expect(zoned('Moon/Sea')).toEqual(['spec.timeZone | Invalid | Invalid value: "Moon/Sea": unknown time zone Moon/Sea']);
  expect(zoned('UTC', 'TZ=UTC 0 * * * *')).toEqual(like(['spec.schedule | Invalid']));
});

test.each<[string, Loose, string[]]>([
  ['no schedule', { schedule: '' }, ['spec.schedule | Required']],
  [
    'words',
    { concurrencyPolicy: 'Maybe', startingDeadlineSeconds: -1 },
    ['spec.startingDeadlineSeconds', 'spec.concurrencyPolicy | NotSupported'],
  ],
  [
    'a selector',
    { jobTemplate: { spec: { selector: { matchLabels: { a: 'b' } }, manualSelector: true, template: { spec: podSpec } } } },
    [
      '`selector` will be auto-generated',
      'spec.jobTemplate.spec.manualSelector | NotSupported | Unsupported value: true: supported values: "nil", "false"',
    ],
  ],
])('cron jobs: %s', (_name, spec, texts) => {
  expect(create(CronJobKind, cron(spec)).errors).toEqual(like(texts));
});

test('a cron job leaves room in its name, and is warned of zones in its schedule', () => {
  expect(create(CronJobKind, cron({}, 'a'.repeat(53))).errors).toEqual(like(['must be no more than 52 characters']));
  expect(create(CronJobKind, cron({ schedule: 'TZ=UTC 0 * * * *' })).warnings).toEqual(
    like(['CRON_TZ or TZ used in spec.spec.schedule is not officially supported']),
  );
});

test.each<[string, string | undefined]>([
  ['*/5 * * * *', undefined],
  ['0 3 * * 1-5', undefined],
  ['0,30 8-18/2 1 JAN,jul mon', undefined],
  ['? ? ? ? ?', undefined],
  ['0 0 31 2 *', undefined],
  ['@hourly', undefined],
  ['@every 1h30m', undefined],
  ['TZ=Europe/Berlin 0 3 * * *', undefined],
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['61 * * * *', 'end of range (61) above maximum (59): 61'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['*/1/2 * * * *', 'too many slashes: */1/2'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['a * * * *', 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
  ['@never', 'unrecognized descriptor: @never'],
  ['@every x', 'failed to parse duration @every x: time: invalid duration "x"'],
  ['TZ=Moon 0 3 * * *', 'provided bad location Moon: unknown time zone Moon'],
])('schedules: %s', (text, problem) => {
  expect(scheduleProblem(text)).toBe(problem);
});
test('a schedule has a longest length; one that is stored already may stay', () => {
  const longest = `${'0,'.repeat(2043)}0 * * * *`;
  expect(longest.length).toBeLessThan(4096);
  expect(scheduleProblem(longest)).toBeUndefined();
  const longer = `0,${longest}`;
  expect(scheduleProblem(longer)).toBe('must be no more than 4096 characters');
  const stored = create(CronJobKind, cron({ schedule: longer }));
  expect(stored.errors).toEqual(like(['spec.schedule | Invalid']));
  const changed = (change: Loose) => update(CronJobKind, stored.object, ({ spec }) => Object.assign(spec, change)).errors;
  expect(changed({ suspend: true })).toEqual([]);
  expect(changed({ schedule: `0,${longer}` })).toEqual(like(['spec.schedule | Invalid']));
});
