/** Validation of volume mounts and volume devices. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import type { Container, VolumeDevice, VolumeMount } from '../../core/schema/pods/containers.ts';
import type { Volume } from '../../core/schema/volumes/volumes.ts';
import { descendingPath, hasBackstep } from '../paths.ts';

/** The valid volumes of a pod, by name. */
export type Volumes = ReadonlyMap<string, Volume>;

type Mounting = Pick<Container, 'volumeMounts' | 'volumeDevices' | 'securityContext'>;
const recursions = ['Disabled', 'Enabled', 'IfPossible'];
const propagations = ['Bidirectional', 'HostToContainer', 'None'];

export function validateMounts(container: Mounting, volumes: Volumes, at: Path, errors: FieldErrors): void {
  const { volumeMounts, volumeDevices } = container;
  if (volumeMounts !== undefined) validateVolumeMounts(volumeMounts, container, volumes, at.child('volumeMounts'), errors);
  if (volumeDevices !== undefined) validateVolumeDevices(volumeDevices, volumeMounts ?? [], volumes, at.child('volumeDevices'), errors);
}

function validateVolumeMounts(mounts: readonly VolumeMount[], container: Mounting, volumes: Volumes, at: Path, errors: FieldErrors): void {
  const paths = new Set<string>();
  const { volumeDevices: devices } = container;
  const deviceNames = devices && new Set(devices.map((device) => device.name));
  const devicePaths = devices && new Set(devices.map((device) => device.devicePath));
  for (let i = 0; i < mounts.length; i++) {
    const { name, mountPath } = mounts[i] as VolumeMount;
    if (name === '') errors.required(at.index(i).child('name'));
    if (!volumes.has(name)) errors.notFound(at.index(i).child('name'), name);
    if (mountPath === '') errors.required(at.index(i).child('mountPath'));
    if (paths.has(mountPath)) errors.invalid(at.index(i).child('mountPath'), mountPath, 'must be unique');
    paths.add(mountPath);
    if (deviceNames?.has(name)) errors.invalid(at.index(i).child('name'), name, 'must not already exist in volumeDevices');
    if (devicePaths?.has(mountPath))
      errors.invalid(at.index(i).child('mountPath'), mountPath, 'must not already exist as a path in volumeDevices');
    validateMountOptions(mounts[i] as VolumeMount, i, container, at, errors);
  }
}

/** These errors name the list, not the mount, as in a stock server. */
function validateMountOptions(mount: VolumeMount, i: number, container: Mounting, at: Path, errors: FieldErrors): void {
  const { subPath, subPathExpr, mountPropagation } = mount;
  if (subPath !== undefined) descendingPath(subPath, at.child('subPath'), errors);
  if (subPathExpr !== undefined) {
    if (subPath !== undefined)
      errors.invalid(at.index(i).child('subPathExpr'), subPathExpr, 'subPathExpr and subPath are mutually exclusive');
    descendingPath(subPathExpr, at.child('subPathExpr'), errors);
  }
  if (mount.recursiveReadOnly !== undefined) validateRecursion(mount, mount.recursiveReadOnly, at.child('recursiveReadOnly'), errors);
  if (mountPropagation === undefined) return;
  if (!propagations.includes(mountPropagation)) errors.notSupported(at.child('mountPropagation'), mountPropagation, propagations);
  if (mountPropagation === 'Bidirectional' && container.securityContext?.privileged !== true)
    errors.forbidden(at.child('mountPropagation'), 'Bidirectional mount propagation is available only to privileged containers');
}

function validateRecursion({ readOnly, mountPropagation = 'None' }: VolumeMount, recursion: string, at: Path, errors: FieldErrors): void {
  if (!recursions.includes(recursion)) errors.notSupported(at, recursion, recursions);
  else if (recursion !== 'Disabled') {
    if (readOnly !== true) errors.forbidden(at, 'may only be specified when readOnly is true');
    if (mountPropagation !== 'None') errors.forbidden(at, 'may only be specified when mountPropagation is None or not specified');
  }
}

function validateVolumeDevices(
  devices: readonly VolumeDevice[],
  mounts: readonly VolumeMount[],
  volumes: Volumes,
  at: Path,
  errors: FieldErrors,
): void {
  const names = new Set<string>();
  const paths = new Set<string>();
  const mounted = new Set(mounts.map((mount) => mount.name));
  const mountPaths = new Set(mounts.map((mount) => mount.mountPath));
  devices.forEach(({ name, devicePath }, i) => {
    const nameAt = at.index(i).child('name');
    const pathAt = at.index(i).child('devicePath');
    const volume = volumes.get(name);
    if (name === '') errors.required(nameAt);
    if (names.has(name)) errors.invalid(nameAt, name, 'must be unique');
    if (volume === undefined) errors.notFound(nameAt, name);
    else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined)
      errors.invalid(nameAt, name, 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode');
    if (devicePath === '') errors.required(pathAt);
    if (paths.has(devicePath)) errors.invalid(pathAt, devicePath, 'must be unique');
    if (devicePath !== '' && hasBackstep(devicePath)) errors.invalid(pathAt, devicePath, "can not contain backsteps ('..')");
    else paths.add(devicePath);
    if (mounted.has(name)) errors.invalid(nameAt, name, 'must not already exist in volumeMounts');
    if (mountPaths.has(devicePath)) errors.invalid(pathAt, devicePath, 'must not already exist as a path in volumeMounts');
    if (name !== '') names.add(name);
  });
}
