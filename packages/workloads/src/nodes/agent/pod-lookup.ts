/** What the agent knows of a pod: the object itself, and the contents of what it mounts. */
import type { Client } from '@plat-dev/client/dynamic';
import { unlessGone } from '@plat-dev/client/http';
import { refs } from '@plat-dev/controllers/runtime/controller';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import type { Clock } from '@plat-dev/lib/clock';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import type { WorkloadPod } from '../../shared/pods.ts';
import type { Sources } from '../container-view.ts';
import type { ContainerStatus } from '../lifecycle/container-world.ts';
import type { Container } from '../lifecycle/process.ts';
import { contentsOf, SOURCES_LIMIT } from '../pod-sources.ts';
import type { ServiceObject } from '../service-variables.ts';

/** Services of a namespace that the environment names. */
const SERVICES_LIMIT = 500;

export interface PodApi {
  /** As a user who may read pods, config maps, secrets and services, and may make tokens of service accounts. */
  readonly client: Client;
  readonly identity: Identity;
  /** The address that names of services are looked up at. */
  readonly nameserver: string;
}

export const findPod = (client: Client, namespace: string, name: string): Promise<WorkloadPod | undefined> =>
  client.find<WorkloadPod>(refs.pods, namespace, name);

/** How long a look at a pod is used again, and how many pods. */
const LOOK_MS = 500;
const LOOKS_LIMIT = 256;

/** Looks at pods again and again, such as those of clients that follow a log: many at one pod are one request. */
export class PodLooks {
  private readonly client: Client;
  private readonly clock: Clock;
  private readonly looks = new BoundedCache<string, { readonly at: number; readonly pod: Promise<WorkloadPod | undefined> }>(LOOKS_LIMIT);

  constructor(client: Client, clock: Clock) {
    this.client = client;
    this.clock = clock;
  }
  /** The pod as it was at most half a second ago. */
  recent(namespace: string, name: string): Promise<WorkloadPod | undefined> {
    const key = `${namespace}/${name}`;
    const at = this.clock.monotonic();
    const recentLook = this.looks.get(key);
    if (recentLook !== undefined && at - recentLook.at < LOOK_MS) return recentLook.pod;
    const pod = findPod(this.client, namespace, name);
    this.looks.set(key, { at, pod });
    pod.catch(() => this.looks.delete(key));
    return pod;
  }
}

export function containerOf({ spec }: WorkloadPod, name: string): Container | undefined {
  const all = [
    ...(spec?.containers ?? []),
    ...(spec?.initContainers ?? []),
    ...((spec?.ephemeralContainers ?? []) as unknown as Container[]),
  ];
  return all.find((container) => container.name === name);
}
export function statusOf({ status }: WorkloadPod, name: string): ContainerStatus | undefined {
  const { containerStatuses, initContainerStatuses, ephemeralContainerStatuses } = status ?? {};
  return [...(containerStatuses ?? []), ...(initContainerStatuses ?? []), ...(ephemeralContainerStatuses ?? [])].find(
    (one) => one.name === name,
  );
}

/** What the API has for a pod now. */
export async function sourcesOf(api: PodApi, pod: WorkloadPod): Promise<Sources> {
  const { client, identity, nameserver } = api;
  const tokens = new Map<string, string>();
  for (const audience of audiencesIn(pod)) tokens.set(audience, (await tokenFor(api, pod, audience)) ?? '');
  return {
    ...(await contentsOf(client, pod)),
    token: (audience) => tokens.get(audience) ?? '',
    services: await servicesOf(client, identity, pod),
    nameserver,
  };
}

/** Audiences of tokens that a pod mounts. */
function audiencesIn({ spec }: WorkloadPod): string[] {
  const audiences = new Set<string>();
  for (const { projected } of spec?.volumes ?? [])
    for (const { serviceAccountToken } of projected?.sources ?? [])
      if (serviceAccountToken != null) audiences.add(serviceAccountToken.audience ?? '');
  return [...audiences].slice(0, SOURCES_LIMIT);
}

/** As long as node agents ask for; a token is made for every command that may read it. */
const TOKEN_SECONDS = 3607;
async function tokenFor({ client, identity }: PodApi, { metadata, spec }: WorkloadPod, audience: string): Promise<string | undefined> {
  const { name, namespace = '', uid } = metadata;
  const request = {
    apiVersion: joinApiVersion(groupName(identity, 'authentication'), 'v1'),
    kind: 'TokenRequest',
    spec: {
      ...(audience !== '' && { audiences: [audience] }),
      expirationSeconds: TOKEN_SECONDS,
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    },
  };
  const path = { name: spec?.serviceAccountName ?? 'default', path: 'token' };
  const answer = await client.create<ApiObject>(refs.serviceAccounts, namespace, request, path).catch(unlessGone);
  return (answer as { status?: { token?: string } } | undefined)?.status?.token;
}

/** Those of the pod's namespace, unless it wants no links, after that of the server itself. */
async function servicesOf(client: Client, { serviceName }: Identity, { metadata, spec }: WorkloadPod): Promise<ServiceObject[]> {
  const servicesByName = new Map<string, ServiceObject>();
  const own = await client.get<ServiceObject>(refs.services, 'default', serviceName).catch(unlessGone);
  if (own !== undefined) servicesByName.set(serviceName, own);
  if (spec?.enableServiceLinks === false) return [...servicesByName.values()];
  const { items } = await client.list<ServiceObject>(refs.services, metadata.namespace ?? '', { limit: SERVICES_LIMIT });
  for (const service of items) servicesByName.set(service.metadata.name ?? '', service);
  return [...servicesByName.values()];
}
