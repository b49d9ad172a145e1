/** What a node reports about containers besides their states: their users, and the health of the devices that they got. */
import { own } from '@plat-dev/lib/own';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import type { ContainerStatus } from '../../core/schema/pods/container-status.ts';
import type { Container } from '../../core/schema/pods/containers.ts';
import type { Pod } from '../../core/schema/pods/pod.ts';
import type { KindEnv } from '../../kind.ts';
import { validateId } from './security-context.ts';

const fields = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const;

export function validateStatusDetails({ spec, status }: Pod, errors: FieldErrors, env: KindEnv): void {
  if (!env.since('1.31')) return;
  for (const field of fields)
    status[field]?.forEach(({ user }, i) => {
      if (user?.linux !== undefined)
        validateUser(user.linux, spec.os?.name === 'windows', Path.of('status').child(field).index(i).child('user').child('linux'), errors);
    });
  validateDevices(status.containerStatuses, spec.containers, Path.of('status', 'containerStatuses'), errors);
  validateDevices(status.initContainerStatuses, spec.initContainers, Path.of('status', 'initContainerStatuses'), errors);
  status.ephemeralContainerStatuses?.forEach(({ allocatedResourcesStatus = [] }, i) => {
    const at = Path.of('status', 'ephemeralContainerStatuses').index(i).child('allocatedResourcesStatus');
    if (allocatedResourcesStatus.length > 0) errors.forbidden(at, 'must not be specified in container status');
  });
}

type LinuxUser = NonNullable<NonNullable<ContainerStatus['user']>['linux']>;
function validateUser({ uid, gid, supplementalGroups = [] }: LinuxUser, onWindows: boolean, at: Path, errors: FieldErrors): void {
  if (onWindows) {
    errors.forbidden(at, 'cannot be set for a windows pod');
    return;
  }
  validateId(uid, at, 'uid', errors);
  validateId(gid, at, 'gid', errors);
  supplementalGroups.forEach((group, i) => {
    validateId(group, at, `supplementalGroups[${i}]`, errors);
  });
}

const healths = ['Healthy', 'Unhealthy', 'Unknown'];
const longestMessage = 1024;
type Device = NonNullable<NonNullable<ContainerStatus['allocatedResourcesStatus']>[number]['resources']>[number];

function validateDevices(
  statuses: readonly ContainerStatus[] = [],
  containers: readonly Container[] = [],
  at: Path,
  errors: FieldErrors,
): void {
  const byName = new Map(containers.map((container) => [container.name, container]));
  statuses.forEach(({ name: containerName, allocatedResourcesStatus }, i) => {
    const container = byName.get(containerName);
    allocatedResourcesStatus?.forEach(({ name, resources = [] }, j) => {
      const here = at.index(i).child('allocatedResourcesStatus').index(j);
      if (container !== undefined) validateResourceOf(container, name, here.child('name'), errors);
      const ids = new Set<string>();
      resources.forEach((device, k) => {
        validateDevice(device, ids, here.child('resources').index(k), errors);
      });
    });
  });
}

/** `claim:NAME`, `claim:NAME/REQUEST`, or a resource that the container requests. */
function validateResourceOf({ resources }: Container, name: string, at: Path, errors: FieldErrors): void {
  if (!name.startsWith('claim:')) {
    if (own(resources.requests, name) === undefined) errors.invalid(at, name, "must match one of the container's resource requests");
    return;
  }
  const isUsed = resources.claims?.some((claim) => name === `claim:${claim.name}${claim.request === undefined ? '' : `/${claim.request}`}`);
  const forms = "'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
  if (!isUsed) errors.invalid(at, name, `must match one of the container's resource claims in a format ${forms}`);
}

function validateDevice({ resourceID, health = '', message }: Device, ids: Set<string>, at: Path, errors: FieldErrors): void {
  if (!healths.includes(health)) errors.notSupported(at.child('health'), health, healths);
  if (message === '') errors.required(at.child('message'), 'must be non-empty if specified');
  else if (message !== undefined && message.length > longestMessage) errors.tooLong(at.child('message'), longestMessage);
  if (ids.has(resourceID)) errors.duplicate(at.child('resourceID'), resourceID);
  ids.add(resourceID);
}
