import { expect, test } from 'vitest';
import type { StorageVersionStatus } from './schema/v1alpha1.ts';
import { commonVersion, setCommonVersion, withServer } from './storage-version-status.ts';

const server = (apiServerID: string, encodingVersion: string) => ({ apiServerID, encodingVersion, decodableVersions: [encodingVersion] });
const start = Date.UTC(2024, 0, 1);
const time = (status: StorageVersionStatus): string | null | undefined => status.conditions?.[0]?.lastTransitionTime;

test('the common version is that of all servers, where they agree', () => {
  expect(commonVersion([])).toBeUndefined();
  expect(commonVersion([server('a', 'v1')])).toBe('v1');
  expect(commonVersion([server('a', 'v1'), server('b', 'v1')])).toBe('v1');
  expect(commonVersion([server('a', 'v1'), server('b', 'v2')])).toBeUndefined();
});

test('what a server says takes the place of what it said; the condition changes its time with its status or the version', () => {
  const one = withServer({}, server('a', 'v1'), 0, start);
  expect(one).toEqual({
    storageVersions: [server('a', 'v1')],
    commonEncodingVersion: 'v1',
    conditions: [
      {
        type: 'AllEncodingVersionsEqual',
        status: 'True',
        lastTransitionTime: '2024-01-01T00:00:00Z',
        reason: 'CommonEncodingVersionSet',
        message: 'Common encoding version set',
      },
    ],
  });
  expect(withServer(one, server('a', 'v1'), 0, start + 60_000)).toEqual(one);
  const two = withServer(one, server('b', 'v2'), 0, start + 60_000);
  expect([two.commonEncodingVersion, two.conditions?.[0]?.status, time(two)]).toEqual([undefined, 'False', '2024-01-01T00:01:00Z']);
  const both = withServer(two, server('a', 'v2'), 0, start + 120_000);
  expect([both.commonEncodingVersion, both.conditions?.[0]?.status, time(both)]).toEqual(['v2', 'True', '2024-01-01T00:02:00Z']);
  const moved = setCommonVersion({ ...both, storageVersions: [server('a', 'v3')] }, 0, start + 180_000);
  expect([moved.commonEncodingVersion, time(moved)]).toEqual(['v3', '2024-01-01T00:03:00Z']);
});

test('nothing is common to no servers', () => {
  expect(setCommonVersion({ commonEncodingVersion: 'v1' }, 3, start)).toEqual({
    conditions: [
      {
        type: 'AllEncodingVersionsEqual',
        status: 'False',
        observedGeneration: 3,
        lastTransitionTime: '2024-01-01T00:00:00Z',
        reason: 'CommonEncodingVersionUnset',
        message: 'Common encoding version unset',
      },
    ],
  });
});
