/** Defaults of pods and pod templates. */
import { own } from '@plat-dev/lib/own';
import type { Identity } from '@plat-dev/meta/identity';
import type { KindEnv } from '../../kind.ts';
import { podNames } from '../../validation/pods/pod-names.ts';
import type { Container } from '../schema/pods/containers.ts';
import type { Pod, PodSpec, PodStatus, PodTemplateSpec } from '../schema/pods/pod.ts';
import type { HTTPGetAction, Probe } from '../schema/pods/probes.ts';
import { pullPolicyOf } from './pod-image.ts';
import { requestsFromLimits, roundedAmounts, roundedResources } from './pod-resources.ts';
import { volumeDefaults } from './pod-volume-defaults.ts';

export function podDefaults(pod: Pod, env: KindEnv): void {
  const { spec } = pod;
  for (const container of spec.containers ?? []) requestsFromLimits(container);
  for (const container of spec.initContainers ?? []) requestsFromLimits(container);
  spec.enableServiceLinks ??= true;
  podSpecDefaults(spec);
  podIPsDefaults(pod.status);
  dropOldAnnotations(pod.metadata, env.identity);
}

export function podTemplateDefaults(template: PodTemplateSpec, env: KindEnv): void {
  podSpecDefaults(template.spec);
  dropOldAnnotations(template.metadata, env.identity);
}

function podSpecDefaults(spec: PodSpec): void {
  spec.dnsPolicy ??= 'ClusterFirst';
  spec.restartPolicy ??= 'Always';
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ??= 'default-scheduler';
  syncServiceAccount(spec);
  if (spec.overhead !== undefined) roundedAmounts(spec.overhead);
  for (const volume of spec.volumes ?? []) volumeDefaults(volume);
  for (const container of spec.containers ?? []) containerDefaults(container, spec.hostNetwork === true);
  for (const container of spec.initContainers ?? []) containerDefaults(container, spec.hostNetwork === true);
  for (const container of spec.ephemeralContainers ?? []) containerDefaults(container, false);
}

/** The service account has an old and a new field, which have the same value. */
export function syncServiceAccount(spec: PodSpec): void {
  const name = spec.serviceAccountName ?? spec.serviceAccount;
  if (name === undefined || (spec.serviceAccountName === name && spec.serviceAccount === name)) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

function containerDefaults(container: Container, onHost: boolean): void {
  container.imagePullPolicy ??= pullPolicyOf(container.image ?? '');
  container.terminationMessagePath ??= '/dev/termination-log';
  container.terminationMessagePolicy ??= 'File';
  const { resources, livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  if (resources.limits !== undefined || resources.requests !== undefined) roundedResources(resources);
  if (livenessProbe !== undefined) probeDefaults(livenessProbe);
  if (readinessProbe !== undefined) probeDefaults(readinessProbe);
  if (startupProbe !== undefined) probeDefaults(startupProbe);
  if (lifecycle?.postStart?.httpGet !== undefined) httpGetDefaults(lifecycle.postStart.httpGet);
  if (lifecycle?.preStop?.httpGet !== undefined) httpGetDefaults(lifecycle.preStop.httpGet);
  if (onHost) for (const port of container.ports ?? []) if (port.containerPort !== 0) port.hostPort ??= port.containerPort;
  for (const { valueFrom } of container.env ?? []) if (valueFrom?.fieldRef !== undefined) valueFrom.fieldRef.apiVersion ??= 'v1';
}

/** Zero counts as unset in the numbers of probes; decoding has dropped it. */
function probeDefaults(probe: Probe): void {
  if (probe.httpGet !== undefined) httpGetDefaults(probe.httpGet);
  if (probe.grpc !== undefined) probe.grpc.service ??= '';
  probe.timeoutSeconds ??= 1;
  probe.periodSeconds ??= 10;
  probe.successThreshold ??= 1;
  probe.failureThreshold ??= 3;
}

function httpGetDefaults(get: HTTPGetAction): void {
  get.path ??= '/';
  get.scheme ??= 'HTTP';
}

/** `podIP` is the first of `podIPs`. */
function podIPsDefaults(status: PodStatus): void {
  const { podIP, podIPs } = status;
  if (podIP !== undefined && podIPs?.[0]?.ip !== podIP) status.podIPs = [{ ip: podIP }];
  else if (podIP === undefined && podIPs?.[0]?.ip !== undefined) status.podIP = podIPs[0].ip;
}

function dropOldAnnotations(metadata: { annotations?: Record<string, string> }, identity: Identity): void {
  const { annotations } = metadata;
  if (annotations === undefined) return;
  for (const key of podNames(identity).oldInit) if (own(annotations, key) !== undefined) delete annotations[key];
}
