import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { FieldErrors } from '@plat-dev/meta/field';
import { kubernetes } from '@plat-dev/meta/identity';
import { decode, encode } from '@plat-dev/schema/json';
import { expect, test } from 'vitest';
import { EventKind } from '../core/event.ts';
import { Event as CoreEvent } from '../core/schema/events.ts';
import type { WriteRequest } from '../kind.ts';
import { fromHubNow, serve, toHubNow } from '../served-kind.ts';
import { type Loose, testEnv } from '../validation/kinds.testing.ts';
import { decodes, mutated } from '../validation/mutations.testing.ts';
import { EventsEventKind } from './event.ts';

const metadata = { name: 'e', namespace: 'ns', uid: 'u', creationTimestamp: '2024-01-01T00:00:00Z' };
const fresh: Loose = {
  metadata,
  eventTime: '2022-02-03T04:05:06.000007Z',
  reportingController: 'example.com/ctl',
  reportingInstance: 'ctl-1',
  action: 'Doing',
  reason: 'Because',
  type: 'Normal',
  note: 'n',
  regarding: { kind: 'Pod', namespace: 'ns', name: 'p' },
  related: { kind: 'Node', name: 'n' },
  series: { count: 5, lastObservedTime: '2022-02-03T04:05:07.000008Z' },
};
const versions = serve(EventsEventKind, kubernetes, { store: EventKind });
const served = (version: string) => versions.find((one) => one.version === version) as (typeof versions)[number];
const hubOf = (event: Loose, version = 'v1'): Loose =>
  toHubNow(served(version), decode(served(version).schema, structuredClone(event)) as never);
const request = (version: string): WriteRequest => ({ user: { name: 'u', groups: [] }, resource: { version } });

function check(event: Loose, version = 'v1', old?: Loose): string[] {
  const errors = new FieldErrors();
  const { strategy } = EventsEventKind;
  const hub = hubOf(event, version);
  if (old === undefined) strategy?.validate?.(hub as never, errors, testEnv, request(version));
  else strategy?.validateUpdate?.(hub as never, hubOf(old, version) as never, errors, testEnv, request(version));
  return errors.list.map(({ field, reason, message }) => `${field} | ${reason.replace('FieldValue', '')} | ${message}`);
}
const like = (texts: string[]): Loose[] => texts.map((text) => expect.stringContaining(text));

test('an event is the same object under other names of fields', () => {
  const hub = hubOf(fresh);
  expect(hub).toMatchObject({ involvedObject: fresh.regarding, message: 'n', reportingComponent: 'example.com/ctl', apiVersion: 'v1' });
  for (const version of ['v1', 'v1beta1']) {
    const there = fromHubNow(served(version), structuredClone(hub)) as Loose;
    expect(there).toMatchObject({ regarding: fresh.regarding, note: 'n', series: fresh.series });
    expect(toHubNow(served(version), there)).toEqual(hub);
  }
});

test('an event of the core group comes back from the new group as it was', () => {
  const core = {
    metadata,
    involvedObject: { kind: 'Pod', namespace: 'ns', name: 'p' },
    message: 'm',
    source: { component: 'c', host: 'h' },
    firstTimestamp: '2021-01-01T00:00:00Z',
    lastTimestamp: '2021-01-01T00:00:09Z',
    count: 3,
    type: 'Normal',
  };
  fc.assert(
    fc.property(mutated(core), (changed) => {
      const hub = decodes(() => decode(CoreEvent, structuredClone(changed))) as Loose;
      if (hub === undefined) return;
      const text = encode(CoreEvent, hub);
      const { schema } = served('v1');
      const there = decode(schema, JSON.parse(encode(schema, fromHubNow(served('v1'), hub)))) as Loose;
      const { kind: _kind, apiVersion: _apiVersion, ...back } = toHubNow(served('v1'), there) as Loose;
      expect(encode(CoreEvent, back)).toBe(text);
    }),
    { numRuns: rounds(200) },
  );
});

test.each<[string, Loose, string[]]>([
  ['is good as it is', {}, []],
  ['has a time', { eventTime: null }, ['eventTime | Required']],
  ['has a known type', { type: 'Loud' }, ['type | Invalid | Invalid value: "": has invalid value: Loud']],
  [
    'says who reports it',
    { reportingController: 'bad name!', reportingInstance: '' },
    ['reportingController | Invalid', 'reportingInstance | Required'],
  ],
  [
    'has no old fields',
    { deprecatedCount: 3, deprecatedSource: { component: 'c' }, deprecatedFirstTimestamp: '2020-01-01T00:00:00Z' },
    ['deprecatedFirstTimestamp | Invalid', 'deprecatedCount | Invalid', 'deprecatedSource | Invalid'],
  ],
  ['is seen twice in a series', { series: { count: 1 } }, ['series.count | Invalid', 'series.lastObservedTime | Required']],
])('an event of version 1 %s', (_name, change, texts) => {
  expect(check({ ...fresh, ...change })).toEqual(like(texts));
});

test('problems use the names of the group that the client sent', () => {
  const names = new Set(Object.keys(served('v1').schema.fields));
  const wrong: Loose = {
    ...fresh,
    metadata: { ...metadata, namespace: 'other' },
    regarding: { kind: 'Pod', name: 'p' },
    note: 'n'.repeat(1025),
    deprecatedCount: 3,
    deprecatedSource: { component: 'c' },
    deprecatedFirstTimestamp: '2020-01-01T00:00:00Z',
    deprecatedLastTimestamp: '2020-01-01T00:00:00Z',
    reportingController: '',
    reportingInstance: '',
    action: '',
    reason: '',
    type: '',
  };
  const problems = [
    ...check(wrong),
    ...check({ ...fresh, ...wrong, metadata }, 'v1', fresh),
    ...check({ ...wrong, eventTime: null }, 'v1beta1'),
  ];
  const fields = new Set(problems.map((text) => (text.split(' | ')[0] as string).split(/[.[]/)[0] as string));
  expect(problems).toEqual(expect.arrayContaining([expect.stringMatching(/^regarding\.namespace \| Invalid/)]));
  expect([...fields].filter((field) => !names.has(field))).toEqual([]);
});

test('version 1beta1 takes what the core group takes', () => {
  expect(check({ metadata, regarding: { namespace: 'ns' }, deprecatedCount: 3 }, 'v1beta1')).toEqual([]);
});

test('only the series of an event changes', () => {
  expect(check({ ...fresh, series: { ...fresh.series, count: 6 } }, 'v1', fresh)).toEqual([]);
  expect(check({ ...fresh, reason: 'Other', note: 'o', regarding: { ...fresh.regarding, name: 'q' } }, 'v1', fresh)).toEqual(
    like([
      'regarding | Invalid | Invalid value: core.ObjectReference{Kind:"Pod", Namespace:"ns", Name:"q", UID:""',
      'reason | Invalid',
      'note | Invalid | Invalid value: "o": field is immutable',
      'reason | Invalid',
    ]),
  );
  expect(check({ ...fresh, note: 'o' }, 'v1beta1', fresh)).toEqual([]);
});
