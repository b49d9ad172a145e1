/** Validation of volumes of single storage systems; pods and persistent volumes share most of these rules. */

import type { FieldErrors, Path } from '@plat-dev/meta/field';
import type { Identity } from '@plat-dev/meta/identity';
import { dns1123Label, dns1123Subdomain, rangeProblem } from '@plat-dev/meta/names';
import type {
  AWSElasticBlockStoreVolumeSource,
  AzureDiskVolumeSource,
  FCVolumeSource,
  FlockerVolumeSource,
  GCEPersistentDiskVolumeSource,
  HostPathVolumeSource,
  NFSVolumeSource,
  QuobyteVolumeSource,
} from '../../core/schema/volumes/disks.ts';
import type {
  CSIVolumeSource,
  FlexVolumeSource,
  ISCSIVolumeSource,
  StorageOSVolumeSource,
} from '../../core/schema/volumes/network-disks.ts';
import type { ReleaseEnv } from '../../kind.ts';
import { report, required } from '../field-checks.ts';
import { invalidText, listText } from '../go-text.ts';
import { isAbsolute, noBacksteps } from '../paths.ts';

const hostPathTypes = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'];

export function validateHostPath({ path, type }: HostPathVolumeSource, at: Path, errors: FieldErrors): void {
  required(path, at, 'path', errors);
  if (path === '') return;
  noBacksteps(path, at.child('path'), errors);
  if (type !== undefined && !hostPathTypes.includes(type)) errors.notSupported(at.child('type'), type, hostPathTypes);
}

const partitionProblem = rangeProblem(1, 255);
function validatePartition(partition: number | undefined, at: Path, errors: FieldErrors): void {
  if (partition !== undefined && (partition < 0 || partition > 255)) errors.invalid(at.child('partition'), partition, partitionProblem);
}
export function validateGCEDisk(disk: GCEPersistentDiskVolumeSource, at: Path, errors: FieldErrors): void {
  required(disk.pdName, at, 'pdName', errors);
  validatePartition(disk.partition, at, errors);
}
export function validateAWSDisk(disk: AWSElasticBlockStoreVolumeSource, at: Path, errors: FieldErrors): void {
  required(disk.volumeID, at, 'volumeID', errors);
  validatePartition(disk.partition, at, errors);
}

export function validateNFS({ server, path }: NFSVolumeSource, at: Path, errors: FieldErrors): void {
  required(server, at, 'server', errors);
  required(path, at, 'path', errors);
  if (!isAbsolute(path)) errors.invalid(at.child('path'), path, 'must be an absolute path');
}

// ---- iSCSI and Fibre Channel -------------------------------------------------------------------------------------

const initiatorForms: readonly (readonly [string, RegExp])[] = [
  ['iqn', /iqn\.\d{4}-\d{2}\.([a-zA-Z0-9-.]+)(:[^,;*&$|\s]+)$/],
  ['eui', /^eui.[a-zA-Z0-9]{16}$/],
  ['naa', /^naa.[a-zA-Z0-9]{32}$/],
];
export function validateQualifiedInitiator(name: string, at: Path, errors: FieldErrors, plain = false): void {
  const form = initiatorForms.find(([prefix]) => name.startsWith(prefix));
  if (form === undefined) errors.invalid(at, name, plain ? 'must be valid format' : 'must be valid format starting with iqn, eui, or naa');
  else if (!form[1].test(name)) errors.invalid(at, name, 'must be valid format');
}

const lunProblem = rangeProblem(0, 255);
const badLun = (lun: number): boolean => lun < 0 || lun > 255;

export function validateISCSI(iscsi: ISCSIVolumeSource, at: Path, errors: FieldErrors): void {
  required(iscsi.targetPortal, at, 'targetPortal', errors);
  if (iscsi.iqn === '') errors.required(at.child('iqn'));
  else validateQualifiedInitiator(iscsi.iqn, at.child('iqn'), errors);
  if (badLun(iscsi.lun)) errors.invalid(at.child('lun'), iscsi.lun, lunProblem);
  if ((iscsi.chapAuthDiscovery || iscsi.chapAuthSession) && iscsi.secretRef === undefined) errors.required(at.child('secretRef'));
  if (iscsi.initiatorName !== undefined) validateQualifiedInitiator(iscsi.initiatorName, at.child('initiatorname'), errors);
}

export function validateFC({ targetWWNs = [], wwids = [], lun }: FCVolumeSource, at: Path, errors: FieldErrors): void {
  const one = targetWWNs.length === 0;
  if (one && wwids.length === 0) errors.required(at.child('targetWWNs'), 'must specify either targetWWNs or wwids, but not both');
  if (!one && wwids.length > 0)
    invalidText(errors, at.child('targetWWNs'), listText(targetWWNs), 'targetWWNs and wwids can not be specified simultaneously');
  if (one) return;
  if (lun === undefined) errors.required(at.child('lun'), 'lun is required if targetWWNs is specified');
  else if (badLun(lun)) errors.invalid(at.child('lun'), lun, lunProblem);
}

// ---- network storage ---------------------------------------------------------------------------------------------

const hostPorts = 'must be a host:port pair or multiple pairs separated by commas';
/** `host:port`, where a host with colons is in brackets. */
const hostPort = /^(?:\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/;

export function validateQuobyte({ registry, volume, tenant = '' }: QuobyteVolumeSource, at: Path, errors: FieldErrors): void {
  if (registry === '') errors.required(at.child('registry'), hostPorts);
  else if (tenant.length >= 65) errors.required(at.child('tenant'), 'must be a UUID and may not exceed a length of 64 characters');
  else for (const pair of registry.split(',')) if (!hostPort.test(pair)) errors.invalid(at.child('registry'), registry, hostPorts);
  required(volume, at, 'volume', errors);
}

export function validateFlocker({ datasetName = '', datasetUUID = '' }: FlockerVolumeSource, at: Path, errors: FieldErrors): void {
  if (datasetName === '' && datasetUUID === '') errors.required(at, 'one of datasetName and datasetUUID is required');
  if (datasetName !== '' && datasetUUID !== '')
    errors.invalid(at, 'resource', 'datasetName and datasetUUID can not be specified simultaneously');
  if (datasetName.includes('/')) errors.invalid(at.child('datasetName'), datasetName, "must not contain '/'");
}

export function validateFlex(flex: Pick<FlexVolumeSource, 'driver' | 'options'>, at: Path, errors: FieldErrors, identity: Identity): void {
  required(flex.driver, at, 'driver', errors);
  const reserved = [`.${identity.domain}`, `.${identity.groupSuffix}`];
  for (const key of Object.keys(flex.options ?? {})) {
    const domain = `.${(key.split('/', 1)[0] as string).toLowerCase()}`;
    if (reserved.some((suffix) => domain.endsWith(suffix)))
      errors.invalid(at.child('options').key(key), key, `${identity.domain} and ${identity.groupSuffix} namespaces are reserved`);
  }
}

const cachingModes = ['None', 'ReadOnly', 'ReadWrite'];
const diskKinds = ['Dedicated', 'Managed', 'Shared'];
const managedDisk = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}';
const blobDisk = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd';

export function validateAzureDisk(disk: AzureDiskVolumeSource, at: Path, errors: FieldErrors): void {
  const { diskName, diskURI, cachingMode, kind } = disk;
  required(diskName, at, 'diskName', errors);
  required(diskURI, at, 'diskURI', errors);
  if (cachingMode !== undefined && !cachingModes.includes(cachingMode))
    errors.notSupported(at.child('cachingMode'), cachingMode, cachingModes);
  if (kind === undefined) return;
  if (!diskKinds.includes(kind)) errors.notSupported(at.child('kind'), kind, diskKinds);
  if (kind === 'Managed') {
    if (!diskURI.startsWith('/subscriptions/')) errors.notSupported(at.child('diskURI'), diskURI, [managedDisk]);
  } else if (!diskURI.startsWith('https://')) errors.notSupported(at.child('diskURI'), diskURI, [blobDisk]);
}

export function validateStorageOS(
  volume: Pick<StorageOSVolumeSource, 'volumeName' | 'volumeNamespace' | 'secretRef'>,
  at: Path,
  errors: FieldErrors,
): void {
  const { volumeName = '', volumeNamespace = '' } = volume;
  if (volumeName === '') errors.required(at.child('volumeName'));
  else report(errors, at.child('volumeName'), volumeName, dns1123Label(volumeName));
  if (volumeNamespace !== '') report(errors, at.child('volumeNamespace'), volumeNamespace, dns1123Label(volumeNamespace));
  if (volume.secretRef !== undefined) required(volume.secretRef.name, at.child('secretRef'), 'name', errors);
}

export function validateCSIDriverName(name: string, at: Path, errors: FieldErrors, env: ReleaseEnv): void {
  if (name === '') {
    errors.required(at);
    if (env.since('1.35')) return;
  }
  if (name.length > 63) errors.tooLong(at, 63);
  report(errors, at, name, dns1123Subdomain(name.toLowerCase()));
}

export function validateCSI(csi: CSIVolumeSource, at: Path, errors: FieldErrors, env: ReleaseEnv): void {
  validateCSIDriverName(csi.driver, at.child('driver'), errors, env);
  const secret = csi.nodePublishSecretRef;
  if (secret === undefined) return;
  const name = secret.name ?? '';
  if (name === '') errors.required(at.child('nodePublishSecretRef').child('name'));
  else report(errors, at.child('name'), name, dns1123Subdomain(name));
}
