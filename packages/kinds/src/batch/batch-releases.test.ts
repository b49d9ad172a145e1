/** Rules of jobs and cron jobs that came with later releases. */
import type { ApiRelease } from '@plat-dev/lib/version';
import { expect, test } from 'vitest';
import { create, defaulted, inRelease, type Loose, update } from '../validation/kinds.testing.ts';
import { CronJobKind } from './cron-job.ts';
import { JobKind } from './job.ts';
import { indexesProblem, sharedIndex } from './job-indexes.ts';

const template = (spec: Loose = {}): Loose => ({ spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }], ...spec } });
const job = (spec: Loose = {}): Loose => ({ metadata: { name: 'j' }, spec: { template: template(), ...spec } });
const fields = (errors: readonly string[]): string[] => errors.map((text) => text.split(' | ').slice(0, 2).join(' '));
const errorsOf = (spec: Loose, ...env: [ApiRelease, ...string[]]): string[] => fields(create(JobKind, job(spec), inRelease(...env)).errors);

test('defaults', () => {
  const specOf = (spec: Loose, release: ApiRelease): Loose => defaulted(JobKind, job(spec), inRelease(release)).spec;
  expect(specOf({}, '1.27')).not.toHaveProperty('podReplacementPolicy');
  expect(specOf({}, '1.29')).toMatchObject({ backoffLimit: 6, podReplacementPolicy: 'TerminatingOrFailed', manualSelector: false });
  expect(specOf({ podFailurePolicy: { rules: [] } }, '1.29').podReplacementPolicy).toBe('Failed');
  expect(specOf({ completionMode: 'Indexed', completions: 2, backoffLimitPerIndex: 1 }, '1.29').backoffLimit).toBe(2 ** 31 - 1);
  const rules = [{ action: 'Ignore', onPodConditions: [{ type: 'A' }] }];
  expect(specOf({ podFailurePolicy: { rules } }, '1.26').podFailurePolicy.rules[0].onPodConditions).toEqual([
    { type: 'A', status: 'True' },
  ]);
});

test('labels with a domain, and a selector by one of them, since 1.27', () => {
  const older = create(JobKind, job(), inRelease('1.26')).object;
  expect(older.spec.selector.matchLabels).toEqual({ 'controller-uid': 'u-1' });
  const newer = create(JobKind, job(), inRelease('1.27')).object;
  expect(newer.spec.selector.matchLabels).toEqual({ 'batch.kubernetes.io/controller-uid': 'u-1' });
  expect(Object.keys(newer.spec.template.metadata.labels).sort()).toEqual([
    'batch.kubernetes.io/controller-uid',
    'batch.kubernetes.io/job-name',
    'controller-uid',
    'job-name',
  ]);
  expect(update(JobKind, older, (o) => Object.assign(o.spec, { suspend: true }), '', inRelease('1.36')).errors).toEqual([]);
});

test.each<[string, Loose, ApiRelease, string[]]>([
  [
    'limits of indexes without indexes',
    { backoffLimitPerIndex: 1, maxFailedIndexes: 1 },
    '1.29',
    ['spec.backoffLimitPerIndex Invalid', 'spec.maxFailedIndexes Invalid'],
  ],
  [
    'a bound without a limit',
    { completionMode: 'Indexed', completions: 2, maxFailedIndexes: 1 },
    '1.29',
    ['spec.backoffLimitPerIndex Required'],
  ],
  [
    'too many failures',
    { completionMode: 'Indexed', completions: 2, backoffLimitPerIndex: 0, maxFailedIndexes: 3 },
    '1.29',
    ['spec.maxFailedIndexes Invalid'],
  ],
  ['a manager without a domain', { managedBy: 'me' }, '1.32', ['spec.managedBy Invalid']],
  ['a manager where nobody may manage', { managedBy: 'me' }, '1.31', []],
  ['an unknown replacement', { podReplacementPolicy: 'Odd' }, '1.29', ['spec.podReplacementPolicy NotSupported']],
  ['success without indexes', { successPolicy: { rules: [{ succeededCount: 1 }] } }, '1.31', ['spec.successPolicy Invalid']],
  [
    'success of indexes that are not there',
    {
      completionMode: 'Indexed',
      completions: 2,
      successPolicy: { rules: [{ succeededIndexes: '0-2' }, {}, { succeededIndexes: '0', succeededCount: 2 }] },
    },
    '1.31',
    [
      'spec.successPolicy.rules[0].succeededIndexes Invalid',
      'spec.successPolicy.rules[1] Required',
      'spec.successPolicy.rules[2].succeededCount Invalid',
    ],
  ],
  [
    'failures that restart in place',
    {
      podFailurePolicy: { rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [1] } }] },
      template: template({ restartPolicy: 'OnFailure' }),
    },
    '1.26',
    ['spec.template.spec.restartPolicy Invalid'],
  ],
  [
    'odd rules',
    {
      podFailurePolicy: {
        rules: [{ action: 'Odd' }, { action: 'Count', onExitCodes: { containerName: 'x', operator: 'In', values: [0, 3, 2, 2] } }],
      },
    },
    '1.26',
    [
      'spec.podFailurePolicy.rules[0].action NotSupported',
      'spec.podFailurePolicy.rules[0] Invalid',
      'spec.podFailurePolicy.rules[1].onExitCodes.containerName Invalid',
      'spec.podFailurePolicy.rules[1].onExitCodes.values[0] Invalid',
      'spec.podFailurePolicy.rules[1].onExitCodes.values[3] Duplicate',
      'spec.podFailurePolicy.rules[1].onExitCodes.values Invalid',
    ],
  ],
])('a job refuses %s', (_name, spec, release, errors) => {
  expect(errorsOf(spec, release)).toEqual(errors);
});

test('rules about indexes go while indexes have no limit', () => {
  const rules = [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [1] } }];
  expect(create(JobKind, job({ podFailurePolicy: { rules } }), inRelease('1.28')).object.spec.podFailurePolicy.rules).toEqual([]);
});

test('an indexed job may grow with its parallelism since 1.27', () => {
  const stored = create(JobKind, job({ completionMode: 'Indexed', completions: 2, parallelism: 2 }), inRelease('1.36')).object;
  const grow = (spec: Loose, release: ApiRelease): string[] =>
    fields(update(JobKind, stored, (o) => Object.assign(o.spec, spec), '', inRelease(release)).errors);
  expect(grow({ completions: 3, parallelism: 3 }, '1.27')).toEqual([]);
  expect(grow({ completions: 3 }, '1.27')).toEqual(['spec.completions Invalid']);
});

test('resources of a suspended job may change since 1.36', () => {
  const stored = create(JobKind, job({ suspend: true }), inRelease('1.36')).object;
  const change = (container: Loose, ...env: [ApiRelease, ...string[]]): string[] =>
    fields(update(JobKind, stored, (o) => Object.assign(o.spec.template.spec.containers[0], container), '', inRelease(...env)).errors);
  expect(change({ resources: { requests: { cpu: '1' } } }, '1.35')).toEqual(['spec.template Invalid']);
  expect(change({ resources: { requests: { cpu: '1' } } }, '1.36')).toEqual([]);
  expect(change({ image: 'other' }, '1.36')).toEqual(['spec.template.spec Invalid']);
});

const condition = (type: string): Loose => ({ type, status: 'True' });
test.each<[string, Loose, ApiRelease, string[]]>([
  ['both ends', { conditions: [condition('Complete'), condition('Failed')] }, '1.29', []],
  [
    'an end without a time',
    { startTime: '2024-01-01T00:00:00Z', conditions: [condition('SuccessCriteriaMet'), condition('Complete')] },
    '1.32',
    ['status.completionTime Required'],
  ],
  [
    'an end that was not announced',
    { startTime: '2024-01-01T00:00:00Z', conditions: [condition('Failed')] },
    '1.32',
    ['status.conditions Invalid'],
  ],
  ['more ready than there are', { active: 1, ready: 2 }, '1.32', ['status.ready Invalid']],
  ['indexes of a job without', { completedIndexes: '0' }, '1.32', ['status.completedIndexes Invalid']],
  [
    'an end with pods',
    { startTime: '2024-01-01T00:00:00Z', active: 1, conditions: [condition('FailureTarget'), condition('Failed')] },
    '1.32',
    ['status.active Invalid'],
  ],
])('a status of %s', (_name, status, release, errors) => {
  const stored = create(JobKind, job(), inRelease(release)).object;
  expect(fields(update(JobKind, stored, (o) => Object.assign(o, { status }), 'status', inRelease(release)).errors)).toEqual(errors);
});
test('what has ended stays so', () => {
  const env = inRelease('1.32');
  const stored = create(JobKind, job(), env).object;
  stored.status = { failed: 2, startTime: '2024-01-01T00:00:00Z', conditions: [condition('FailureTarget'), condition('Failed')] };
  const write = (status: Loose): string[] => fields(update(JobKind, stored, (o) => Object.assign(o, { status }), 'status', env).errors);
  expect(write({ ...stored.status, conditions: [] })).toEqual(['status.conditions Invalid', 'status.conditions Invalid']);
  expect(write({ ...stored.status, failed: 1 })).toEqual(['status.failed Invalid']);
});

test.each<[string, number, string | undefined]>([
  ['', 3, undefined],
  ['0,2', 3, undefined],
  ['0-3', 3, 'too large index: "3"'],
  ['2-1', 3, 'non-increasing order, previous: 2, current: 1'],
  ['0-1,1', 3, 'non-increasing order, previous: 1, current: 1'],
  ['0-1-2', 3, expect.stringContaining('at most two parts')],
  ['x', 3, 'cannot convert string to integer for index: "x"'],
])('indexes %j of %i', (text, completions, problem) => {
  expect(indexesProblem(text, completions)).toEqual(problem);
});
test('indexes that two lists share', () => {
  expect(sharedIndex('0-2,5', '3-4', 9)).toBeUndefined();
  expect(sharedIndex('0-2,5', '3-6', 9)).toBe(5);
});

const cron = (spec: Loose): Loose => ({
  metadata: { name: 'c' },
  spec: { schedule: '* * * * *', jobTemplate: { spec: { template: template() } }, ...spec },
});
test('time zones of cron jobs', () => {
  const errors = (spec: Loose, release: ApiRelease): string[] => fields(create(CronJobKind, cron(spec), inRelease(release)).errors);
  expect(errors({ schedule: 'TZ=UTC * * * * *' }, '1.28')).toEqual([]);
  expect(errors({ schedule: 'TZ=UTC * * * * *' }, '1.29')).toEqual(['spec.schedule Invalid']);
  expect(errors({ timeZone: 'Mars/Base' }, '1.29')).toEqual(['spec.timeZone Invalid']);
  const stored = create(CronJobKind, cron({ schedule: 'TZ=UTC * * * * *' }), inRelease('1.28')).object;
  expect(update(CronJobKind, stored, (o) => Object.assign(o.spec, { suspend: true }), '', inRelease('1.29')).errors).toEqual([]);
  expect(fields(update(CronJobKind, stored, (o) => Object.assign(o.spec, { timeZone: 'UTC' }), '', inRelease('1.29')).errors)).toEqual([
    'spec.schedule Invalid',
  ]);
});
