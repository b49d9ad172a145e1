/** Containers of a pod. */
import { always, bool, type Infer, inline, int32, list, message, opt, ptr, req, string } from '@plat-dev/schema/types';
import {
  ConfigMapKeySelector,
  FileKeySelector,
  LocalObjectReference,
  ObjectFieldSelector,
  ResourceFieldSelector,
  SecretKeySelector,
} from '../references.ts';
import { ResourceRequirements } from '../resources.ts';
import { Lifecycle, Probe } from './probes.ts';
import { SecurityContext } from './security-context.ts';

export const ContainerPort = message('core.v1.ContainerPort', {
  name: opt(1, string),
  hostPort: opt(2, int32),
  containerPort: req(3, int32),
  protocol: opt(4, string, { default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'] }),
  hostIP: opt(5, string),
});
export type ContainerPort = Infer<typeof ContainerPort>;

const ConfigMapEnvSource = message('core.v1.ConfigMapEnvSource', {
  localObjectReference: inline(1, LocalObjectReference),
  optional: ptr(2, bool),
});

const SecretEnvSource = message('core.v1.SecretEnvSource', {
  localObjectReference: inline(1, LocalObjectReference),
  optional: ptr(2, bool),
});

export const EnvFromSource = message('core.v1.EnvFromSource', {
  prefix: opt(1, string),
  configMapRef: ptr(2, ConfigMapEnvSource),
  secretRef: ptr(3, SecretEnvSource),
});
export type EnvFromSource = Infer<typeof EnvFromSource>;

export const EnvVarSource = message('core.v1.EnvVarSource', {
  fieldRef: ptr(1, ObjectFieldSelector),
  resourceFieldRef: ptr(2, ResourceFieldSelector),
  configMapKeyRef: ptr(3, ConfigMapKeySelector),
  secretKeyRef: ptr(4, SecretKeySelector),
  fileKeyRef: ptr(5, FileKeySelector, { since: '1.34', gate: 'EnvFiles' }),
});
export type EnvVarSource = Infer<typeof EnvVarSource>;

export const EnvVar = message('core.v1.EnvVar', {
  name: req(1, string),
  value: opt(2, string),
  valueFrom: ptr(3, EnvVarSource),
});
export type EnvVar = Infer<typeof EnvVar>;

export const VolumeMount = message('core.v1.VolumeMount', {
  name: req(1, string),
  readOnly: opt(2, bool),
  recursiveReadOnly: ptr(7, string, { since: '1.30', gate: 'RecursiveReadOnlyMounts' }),
  mountPath: req(3, string),
  subPath: opt(4, string),
  mountPropagation: ptr(5, string),
  subPathExpr: opt(6, string),
});
export type VolumeMount = Infer<typeof VolumeMount>;

export const VolumeDevice = message('core.v1.VolumeDevice', {
  name: req(1, string),
  devicePath: req(2, string),
});
export type VolumeDevice = Infer<typeof VolumeDevice>;

const ContainerResizePolicy = message('core.v1.ContainerResizePolicy', {
  resourceName: req(1, string),
  restartPolicy: req(2, string),
});

const ContainerRestartRuleOnExitCodes = message('core.v1.ContainerRestartRuleOnExitCodes', {
  operator: opt(1, string, { required: true }),
  values: opt(2, list(int32, 'set')),
});

const ContainerRestartRule = message('core.v1.ContainerRestartRule', {
  action: opt(1, string, { required: true }),
  exitCodes: ptr(2, ContainerRestartRuleOnExitCodes),
});

/** What containers have, whether they are there from the start or added later. */
const containerFields = {
  name: req(1, string),
  image: opt(2, string),
  command: opt(3, list(string)),
  args: opt(4, list(string)),
  workingDir: opt(5, string),
  ports: opt(6, list(ContainerPort, 'map', ['containerPort', 'protocol']), { patch: 'merge', mergeKey: 'containerPort' }),
  envFrom: opt(19, list(EnvFromSource)),
  env: opt(7, list(EnvVar, 'map', ['name']), { patch: 'merge', mergeKey: 'name' }),
  resources: always(8, ResourceRequirements),
  resizePolicy: opt(23, list(ContainerResizePolicy), { since: '1.27', gate: 'InPlacePodVerticalScaling' }),
  // From 1.34 on two gates guard single values of the field (pod-gates.ts).
  restartPolicy: ptr(24, string, { since: '1.28', gate: 'SidecarContainers', from: { '1.33': { gate: undefined } } }),
  restartPolicyRules: opt(25, list(ContainerRestartRule), { since: '1.34' }),
  volumeMounts: opt(9, list(VolumeMount, 'map', ['mountPath']), { patch: 'merge', mergeKey: 'mountPath' }),
  volumeDevices: opt(21, list(VolumeDevice, 'map', ['devicePath']), { patch: 'merge', mergeKey: 'devicePath' }),
  livenessProbe: ptr(10, Probe),
  readinessProbe: ptr(11, Probe),
  startupProbe: ptr(22, Probe),
  lifecycle: ptr(12, Lifecycle),
  terminationMessagePath: opt(13, string),
  terminationMessagePolicy: opt(20, string, { enum: ['FallbackToLogsOnError', 'File'] }),
  imagePullPolicy: opt(14, string, { enum: ['Always', 'IfNotPresent', 'Never'] }),
  securityContext: ptr(15, SecurityContext),
  stdin: opt(16, bool),
  stdinOnce: opt(17, bool),
  tty: opt(18, bool),
};

export const Container = message('core.v1.Container', containerFields);
export type Container = Infer<typeof Container>;

const EphemeralContainerCommon = message('core.v1.EphemeralContainerCommon', containerFields);

export const EphemeralContainer = message('core.v1.EphemeralContainer', {
  ephemeralContainerCommon: inline(1, EphemeralContainerCommon),
  targetContainerName: opt(2, string),
});
export type EphemeralContainer = Infer<typeof EphemeralContainer>;
