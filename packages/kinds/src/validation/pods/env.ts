/** Environment variables of a container, and references to fields of the pod and to resources of its containers. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import {
  configMapKey,
  dns1123Subdomain,
  environmentVariableName,
  nameIsSubdomain,
  qualifiedName,
  relaxedVariableName,
} from '@plat-dev/meta/names';
import type { EnvFromSource, EnvVar, EnvVarSource } from '../../core/schema/pods/containers.ts';
import type { PodSpec } from '../../core/schema/pods/pod.ts';
import type {
  ConfigMapKeySelector,
  FileKeySelector,
  ObjectFieldSelector,
  ResourceFieldSelector,
  SecretKeySelector,
} from '../../core/schema/references.ts';
import type { Volume } from '../../core/schema/volumes/volumes.ts';
import type { KindEnv } from '../../kind.ts';
import { label, report, required } from '../field-checks.ts';
import { hasBackstep } from '../paths.ts';
import { amount } from '../resources.ts';
import { eachContainer } from './each-container.ts';

/** Any printable ASCII character but `=` may be in a name since the rules were relaxed. */
const variableName = (name: string, env: KindEnv): string[] =>
  env.feature('RelaxedEnvironmentVariableValidation') ? relaxedVariableName(name) : environmentVariableName(name);

export function validateEnv(vars: readonly EnvVar[], at: Path, errors: FieldErrors, env: KindEnv): void {
  for (let i = 0; i < vars.length; i++) {
    const { name, value, valueFrom } = vars[i] as EnvVar;
    if (name === '') errors.required(at.index(i).child('name'));
    else report(errors, at.index(i).child('name'), name, variableName(name, env));
    if (valueFrom !== undefined) validateSource(valueFrom, value ?? '', at.index(i).child('valueFrom'), errors, env);
  }
}

/** Fields of the pod that a variable may refer to. */
const envFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
const olderEnvFields = envFields.filter((field) => field !== 'status.hostIPs');
/** Fields of the pod that a file of a volume may refer to. */
export const volumeFields = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];

function validateSource(source: EnvVarSource, value: string, at: Path, errors: FieldErrors, env: KindEnv): void {
  let count = 0;
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef !== undefined) {
    count++;
    validateFieldRef(fieldRef, env.feature('PodHostIPs') ? envFields : olderEnvFields, at.child('fieldRef'), errors);
  }
  if (resourceFieldRef !== undefined) {
    count++;
    validateResourceRef(resourceFieldRef, false, at.child('resourceFieldRef'), errors, env);
  }
  if (configMapKeyRef !== undefined) {
    count++;
    validateKeyRef(configMapKeyRef, at.child('configMapKeyRef'), errors);
  }
  if (secretKeyRef !== undefined) {
    count++;
    validateKeyRef(secretKeyRef, at.child('secretKeyRef'), errors);
  }
  if (fileKeyRef !== undefined) {
    count++;
    validateFileKey(fileKeyRef, at.child('fileKeyRef'), errors);
  }
  const last = env.feature('EnvFiles') ? ', `secretKeyRef` or `fileKeyRef`' : ' or `secretKeyRef`';
  if (count === 0) errors.invalid(at, '', `must specify one of: \`fieldRef\`, \`resourceFieldRef\`, \`configMapKeyRef\`${last}`);
  else if (value !== '') errors.invalid(at, '', 'may not be specified when `value` is not empty');
  else if (count > 1) errors.invalid(at, '', 'may not have more than one field specified at a time');
}

function validateKeyRef(ref: ConfigMapKeySelector | SecretKeySelector, at: Path, errors: FieldErrors): void {
  const name = ref.name ?? '';
  report(errors, at.child('name'), name, dns1123Subdomain(name));
  if (ref.key === '') errors.required(at.child('key'));
  else report(errors, at.child('key'), ref.key, configMapKey(ref.key));
}

function validateFileKey({ key, volumeName, path }: FileKeySelector, at: Path, errors: FieldErrors): void {
  if (key === '') errors.required(at.child('key'));
  else report(errors, at.child('key'), key, relaxedVariableName(key));
  if (volumeName === '') errors.required(at.child('volumeName'));
  else label(volumeName, at.child('volumeName'), errors);
  if (path === '') errors.required(at.child('path'));
  else if (hasBackstep(path)) errors.invalid(at.child('path'), path, "must not contain '..'");
}

/** Variables come from files of volumes that live as long as the pod. */
export function validateFileVolumes(spec: PodSpec, at: Path, errors: FieldErrors): void {
  let volumes: ReadonlyMap<string, Volume> | undefined;
  eachContainer(spec, at, ({ env }, containerAt) => {
    env?.forEach(({ valueFrom }, i) => {
      const name = valueFrom?.fileKeyRef?.volumeName;
      if (name === undefined) return;
      volumes ??= new Map(spec.volumes?.map((volume) => [volume.name, volume]));
      const here = containerAt.child('env').index(i).child('valueFrom').child('fileKeyRef').child('volumeName');
      const volume = volumes.get(name);
      if (volume === undefined) errors.notFound(here, name);
      else if (volume.emptyDir === undefined) errors.invalid(here, name, 'referenced volume must be of type emptyDir');
    });
  });
}

export function validateEnvFrom(sources: readonly EnvFromSource[], at: Path, errors: FieldErrors, env: KindEnv): void {
  sources.forEach(({ prefix, configMapRef, secretRef }, i) => {
    const here = at.index(i);
    if (prefix !== undefined && prefix !== '') report(errors, here.child('prefix'), prefix, variableName(prefix, env));
    if (configMapRef !== undefined) validateNamed(configMapRef.name, here.child('configMapRef'), errors);
    if (secretRef !== undefined) validateNamed(secretRef.name, here.child('secretRef'), errors);
    if (configMapRef === undefined && secretRef === undefined) errors.invalid(at, '', 'must specify one of: `configMapRef` or `secretRef`');
    else if (configMapRef !== undefined && secretRef !== undefined)
      errors.invalid(at, '', 'may not have more than one field specified at a time');
  });
}
function validateNamed(name: string | undefined, at: Path, errors: FieldErrors): void {
  if (name === undefined || name === '') errors.required(at.child('name'));
  else report(errors, at.child('name'), name, nameIsSubdomain(name, true));
}

// ---- references to fields ----------------------------------------------------------------------------------------

/** `metadata.labels['app']` → path and subscript. */
function subscripted(text: string): { readonly path: string; readonly key: string } | undefined {
  const open = text.indexOf("['", 1);
  return open < 0 || !text.endsWith("']") || text.length < open + 4
    ? undefined
    : { path: text.slice(0, open), key: text.slice(open + 2, -2) };
}

/** Fields that a reference may name at all; which of them depends on its place. */
const knownFields = new Set([...envFields, ...volumeFields, 'spec.restartPolicy', 'spec.schedulerName', 'status.phase']);
const mapFields = new Set(['metadata.annotations', 'metadata.labels']);

/** `allowed` is sorted. */
export function validateFieldRef(ref: ObjectFieldSelector, allowed: readonly string[], at: Path, errors: FieldErrors): void {
  const { apiVersion = '', fieldPath } = ref;
  const match = subscripted(fieldPath);
  // The old name of a field is still accepted.
  const path = match?.path ?? (fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath);
  const unknown = (why: string) => errors.invalid(at.child('fieldPath'), fieldPath, `error converting fieldPath: ${why}`);
  if (apiVersion === '') errors.required(at.child('apiVersion'));
  else if (fieldPath === '') errors.required(at.child('fieldPath'));
  else if (apiVersion !== 'v1') unknown(`unsupported pod version: ${apiVersion}`);
  else if (match !== undefined) {
    const key = path === 'metadata.annotations' ? match.key.toLowerCase() : match.key;
    if (mapFields.has(path)) report(errors, at, key, qualifiedName(key));
    else unknown(`field label does not support subscript: ${fieldPath}`);
  } else if (!knownFields.has(path)) unknown(`field label not supported: ${path}`);
  else if (!allowed.includes(path)) errors.notSupported(at.child('fieldPath'), path, allowed);
}

const resourceFields = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
export const isHugePagesField = (name: string): boolean => name.startsWith('limits.hugepages-') || name.startsWith('requests.hugepages-');

/** A reference to a resource of a container; in a volume it must name the container. */
export function validateResourceRef(ref: ResourceFieldSelector, inVolume: boolean, at: Path, errors: FieldErrors, env: KindEnv): void {
  const { resource } = ref;
  if (inVolume && (ref.containerName === undefined || ref.containerName === '')) errors.required(at.child('containerName'));
  else if (resource === '') required(resource, at, 'resource', errors);
  else if (!resourceFields.includes(resource) && !(isHugePagesField(resource) && env.feature('DownwardAPIHugePages')))
    errors.notSupported(at.child('resource'), resource, resourceFields);
  validateDivisor(resource, ref.divisor, at, errors);
}

const byteDivisors = new Set(['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei']);
const bytesOnly = (what: string): string =>
  `only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the ${what} resource`;

function validateDivisor(resource: string, divisor: string | undefined, at: Path, errors: FieldErrors): void {
  if (divisor === undefined || divisor === '0' || divisor === '' || amount(divisor).isZero) return;
  const fail = (text: string) => errors.invalid(at.child('divisor'), resource, text);
  if (resource === 'limits.cpu' || resource === 'requests.cpu') {
    if (divisor !== '1m' && divisor !== '1') fail("only divisor's values 1m and 1 are supported with the cpu resource");
  } else if (byteDivisors.has(divisor)) return;
  else if (resource === 'limits.memory' || resource === 'requests.memory') fail(bytesOnly('memory'));
  else if (resource === 'limits.ephemeral-storage' || resource === 'requests.ephemeral-storage') fail(bytesOnly('local ephemeral storage'));
  else if (isHugePagesField(resource)) fail(bytesOnly('hugepages'));
}
