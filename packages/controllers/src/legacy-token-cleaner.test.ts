import { DAY_MS, dayOf, readDay } from '@plat-dev/kinds/core/legacy-tokens';
import { afterEach, expect, test } from 'vitest';
import { CLEAN_UP_MS, legacyTokenCleaner, verdictOf } from './legacy-token-cleaner.ts';
import { FakeApi, fakeKinds, type Loose, runControllers, type TestRun } from './testing.ts';

const { configMaps, pods, secrets, serviceAccounts } = fakeKinds;
const invalidSince = 'kubernetes.io/legacy-token-invalid-since';
const lastUsed = 'kubernetes.io/legacy-token-last-used';
let run: TestRun | undefined;
afterEach(async () => {
  await run?.stop();
  run = undefined;
});

/** A server whose tracking began so many days ago, with one token for each name; all are old, and unused. */
function start(trackedDays: number, names: readonly string[]) {
  const api = new FakeApi([configMaps, pods, secrets, serviceAccounts]);
  const day = (ago: number): string => dayOf(api.clock.now() - ago * DAY_MS);
  api.put(configMaps, {
    metadata: { namespace: 'kube-system', name: 'kube-apiserver-legacy-service-account-token-tracking' },
    data: { since: day(trackedDays) },
  });
  api.put(serviceAccounts, { metadata: { namespace: 'ns', name: 'robot', uid: 'u' }, secrets: names.map((name) => ({ name })) });
  const token = (name: string, labels: Record<string, string> = {}, more: Loose = {}) =>
    api.put(secrets, {
      type: 'kubernetes.io/service-account-token',
      metadata: {
        namespace: 'ns',
        name,
        labels,
        creationTimestamp: `${day(900)}T00:00:00Z`,
        annotations: { 'kubernetes.io/service-account.name': 'robot', 'kubernetes.io/service-account.uid': 'u' },
        ...more,
      },
    });
  for (const name of names) token(name);
  const marks = (): Loose =>
    Object.fromEntries(api.all(secrets).map(({ metadata }) => [metadata.name, metadata.labels?.[invalidSince] ?? '']));
  return { api, token, day, marks };
}
async function settled(api: FakeApi): Promise<void> {
  run = runControllers(api, [legacyTokenCleaner]);
  await run.idle();
}

test('tokens that nobody uses are marked, and deleted a year later', async () => {
  const { api, marks, day } = start(400, ['old']);
  await settled(api);
  expect(marks()).toEqual({ old: day(0) });
  await run?.pass(200 * DAY_MS);
  await run?.idle();
  expect(Object.keys(marks())).toEqual(['old']);
  await run?.pass(170 * DAY_MS);
  await run?.idle();
  expect(marks()).toEqual({});
});

test('what was used, is young, is mounted, was made by people or belongs to another account stays', async () => {
  const { api, token, day, marks } = start(400, ['used', 'young', 'mounted', 'foreign', 'idle']);
  token('used', { [lastUsed]: day(100) });
  token('young', {}, { creationTimestamp: `${day(20)}T00:00:00Z` });
  token('by-hand');
  token('foreign', {}, { annotations: { 'kubernetes.io/service-account.name': 'robot', 'kubernetes.io/service-account.uid': 'other' } });
  api.put(pods, { metadata: { namespace: 'ns', name: 'p' }, spec: { volumes: [{ name: 'v', secret: { secretName: 'mounted' } }] } });
  await settled(api);
  expect(marks()).toEqual({ used: '', young: '', mounted: '', foreign: '', 'by-hand': '', idle: day(0) });
});

test('use is noted for a year before anything is marked', async () => {
  for (const days of [10, 365]) {
    const { api, marks } = start(days, ['old']);
    await settled(api);
    expect(marks()).toEqual({ old: '' });
    await run?.stop();
  }
  const { api, marks } = start(400, ['old']);
  api.put(configMaps, {
    metadata: { namespace: 'kube-system', name: 'kube-apiserver-legacy-service-account-token-tracking' },
    data: { since: 'yesterday' },
  });
  await settled(api);
  expect(marks()).toEqual({ old: '' });
});

test('days decide', () => {
  const now = Date.parse('2026-06-15T12:00:00Z');
  const old = now - 2 * CLEAN_UP_MS;
  const verdict = (used: string | undefined, invalid: string | undefined) => verdictOf({ lastUsed: used, invalidSince: invalid }, old, now);
  expect(verdict('2025-06-15', undefined)).toBe('keep');
  expect(verdict('2025-06-14', undefined)).toBe('mark');
  expect(verdict('tomorrow', undefined)).toBe('mark');
  expect(verdict(undefined, '2025-06-15')).toBe('keep');
  expect(verdict(undefined, '2025-06-14')).toBe('delete');
  expect(verdict(undefined, 'long ago')).toBe('mark');
  expect(verdict('2026-01-01', '2024-01-01')).toBe('keep');
  expect(verdictOf({ lastUsed: undefined, invalidSince: undefined }, now - CLEAN_UP_MS, now)).toBe('keep');
  expect([readDay('2026-02-30'), readDay('2026-2-3'), readDay(undefined), readDay('2026-06-15')]).toEqual([
    undefined,
    undefined,
    undefined,
    Date.parse('2026-06-15'),
  ]);
});
