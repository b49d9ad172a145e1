/** Computes the common encoding version and the condition of a StorageVersion from the entries of its servers. */
import { formatTime } from '@plat-dev/meta/time';
import type { ServerStorageVersion, StorageVersionStatus } from './schema/v1alpha1.ts';

const CONDITION = 'AllEncodingVersionsEqual';

/** The version in which all servers store, where they agree. */
export function commonVersion(servers: readonly ServerStorageVersion[]): string | undefined {
  const [first] = servers;
  return first !== undefined && servers.every((one) => one.encodingVersion === first.encodingVersion) ? first.encodingVersion : undefined;
}

/** The status with the entry of one server replaced. */
export function withServer(status: StorageVersionStatus, own: ServerStorageVersion, generation: number, now: number): StorageVersionStatus {
  const servers = [...(status.storageVersions ?? [])];
  const at = servers.findIndex(({ apiServerID }) => apiServerID === own.apiServerID);
  if (at < 0) servers.push(own);
  else servers[at] = own;
  return setCommonVersion({ ...status, storageVersions: servers }, generation, now);
}

/** The status with common version and condition computed from its servers. Unchanged values stay identical. */
export function setCommonVersion(status: StorageVersionStatus, generation: number, now: number): StorageVersionStatus {
  const { commonEncodingVersion: previousVersion, conditions = [], storageVersions = [], ...rest } = status;
  const common = commonVersion(storageVersions);
  const old = conditions.find(({ type }) => type === CONDITION);
  const [is, word] = common === undefined ? (['False', 'unset'] as const) : (['True', 'set'] as const);
  const isSame =
    old !== undefined && old.status === is && (common === undefined || previousVersion === undefined || previousVersion === common);
  const condition = {
    type: CONDITION,
    status: is,
    ...(generation > 0 && { observedGeneration: generation }),
    lastTransitionTime: isSame ? old.lastTransitionTime : formatTime(now),
    reason: common === undefined ? 'CommonEncodingVersionUnset' : 'CommonEncodingVersionSet',
    message: `Common encoding version ${word}`,
  };
  return {
    ...rest,
    ...(storageVersions.length > 0 && { storageVersions }),
    ...(common !== undefined && { commonEncodingVersion: common }),
    conditions: old === undefined ? [...conditions, condition] : conditions.map((one) => (one === old ? condition : one)),
  };
}
