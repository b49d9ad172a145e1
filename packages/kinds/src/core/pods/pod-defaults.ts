/** Defaults of pods and pod templates. */
import { own, setOwn } from '@plat-dev/lib/own';
import type { Identity } from '@plat-dev/meta/identity';
import type { KindEnv } from '../../kind.ts';
import { podNames } from '../../validation/pods/pod-names.ts';
import { isHugePages } from '../../validation/resources.ts';
import type { Container } from '../schema/pods/containers.ts';
import type { Pod, PodSpec, PodStatus, PodTemplateSpec } from '../schema/pods/pod.ts';
import type { HTTPGetAction, Probe } from '../schema/pods/probes.ts';
import type { ResourceRequirements } from '../schema/resources.ts';
import { containerAmounts, isPodResource } from './pod-amounts.ts';
import { pullPolicyOf } from './pod-image.ts';
import { requestsFromLimits, roundedAmounts, roundedResources } from './pod-resources.ts';
import { volumeDefaults } from './pod-volume-defaults.ts';

export function podDefaults(pod: Pod, env: KindEnv): void {
  const { spec } = pod;
  // Nodes treat periods below zero as a second.
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0 && env.since('1.27')) spec.terminationGracePeriodSeconds = 1;
  for (const container of spec.containers ?? []) requestsFromLimits(container);
  for (const container of spec.initContainers ?? []) requestsFromLimits(container);
  spec.enableServiceLinks ??= true;
  podSpecDefaults(spec, env);
  if (spec.hostNetwork && env.since('1.28')) hostPortDefaults(spec);
  if (spec.resources !== undefined && env.feature('PodLevelResources')) podResourceDefaults(spec, spec.resources, env);
  podIPsDefaults(pod.status);
  dropOldAnnotations(pod.metadata, env.identity);
}

export function podTemplateDefaults(template: PodTemplateSpec, env: KindEnv): void {
  podSpecDefaults(template.spec, env);
  dropOldAnnotations(template.metadata, env.identity);
}

function podSpecDefaults(spec: PodSpec, env: KindEnv): void {
  spec.dnsPolicy ??= 'ClusterFirst';
  spec.restartPolicy ??= 'Always';
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  spec.schedulerName ??= 'default-scheduler';
  syncServiceAccount(spec);
  if (spec.overhead !== undefined) roundedAmounts(spec.overhead);
  if (spec.resources !== undefined) roundedResources(spec.resources);
  for (const volume of spec.volumes ?? []) volumeDefaults(volume);
  for (const container of spec.containers ?? []) containerDefaults(container);
  for (const container of spec.initContainers ?? []) containerDefaults(container);
  for (const container of spec.ephemeralContainers ?? []) containerDefaults(container);
  // Since 1.28 the pods of a template get their own.
  if (spec.hostNetwork && !env.since('1.28')) hostPortDefaults(spec);
}

/** On the network of the node every port of a container is one of the node. */
function hostPortDefaults({ containers = [], initContainers = [] }: PodSpec): void {
  for (const { ports = [] } of [...containers, ...initContainers])
    for (const port of ports) if (port.containerPort !== 0) port.hostPort ??= port.containerPort;
}

/** The service account has an old and a new field, which have the same value. */
export function syncServiceAccount(spec: PodSpec): void {
  const name = spec.serviceAccountName ?? spec.serviceAccount;
  if (name === undefined || (spec.serviceAccountName === name && spec.serviceAccount === name)) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

function containerDefaults(container: Container): void {
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
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.fieldRef !== undefined) valueFrom.fieldRef.apiVersion ??= 'v1';
    if (valueFrom?.fileKeyRef !== undefined) valueFrom.fileKeyRef.optional ??= false;
  }
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

/** What a pod does not state for all its containers follows from what they request, and from its own limits. */
function podResourceDefaults(spec: PodSpec, resources: ResourceRequirements, env: KindEnv): void {
  const { requests, limits } = resources;
  if (Object.keys(requests ?? {}).length === 0 && Object.keys(limits ?? {}).length === 0) return;
  const podLimits: Record<string, string> = { ...limits };
  if (env.since('1.34'))
    for (const [name, sum] of containerAmounts(spec, 'limits'))
      if (isHugePages(name) && own(requests, name) === undefined && own(podLimits, name) === undefined)
        setOwn(podLimits, name, sum.toString());
  const podRequests: Record<string, string> = { ...requests };
  for (const [name, sum] of containerAmounts(spec, 'requests'))
    if (isPodResource(name) && !isHugePages(name) && own(podRequests, name) === undefined) setOwn(podRequests, name, sum.toString());
  for (const name in podLimits)
    if (isPodResource(name) && own(podRequests, name) === undefined) setOwn(podRequests, name, podLimits[name] as string);
  if (Object.keys(podLimits).length > 0) resources.limits = podLimits;
  if (Object.keys(podRequests).length > 0) resources.requests = podRequests;
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
