/**
 * The metrics API of simulated nodes: usage of nodes and pods, as a metrics server has it. It stands behind the API server as any
 * aggregated one does, but within its process: requests arrive authorized. It also answers for other API servers that would run in
 * simulated pods: they are there, and have no resources.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Client } from '@plat-dev/client/dynamic';
import { refs } from '@plat-dev/controllers/runtime/controller';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Clock } from '@plat-dev/lib/clock';
import { LocalSocket } from '@plat-dev/lib/files/local-socket';
import { jsonText } from '@plat-dev/lib/json-text';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { ApiError, badRequest, internalError, methodNotAllowed, notFound, pathNotFound } from '@plat-dev/meta/errors';
import { groupName, type Identity, metaGroups } from '@plat-dev/meta/identity';
import { formatTime } from '@plat-dev/meta/time';
import type { WorkloadPod } from '../../shared/pods.ts';
import type { Annotations } from '../annotations.ts';
import { isSimulated, type NodeObject } from '../node-object.ts';
import { containerUsage, nodeUsage, sumOf, type Usage, usageTexts, WINDOW_MS } from './usage.ts';

export const VERSION = 'v1beta1';

export interface MetricsOptions {
  readonly identity: Identity;
  /** As a user who may read nodes and pods. */
  readonly client: Client;
  readonly clock: Clock;
}

interface Metrics {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Record<string, string> };
  readonly timestamp: string;
  readonly window: string;
  readonly usage?: { cpu: string; memory: string };
  readonly containers?: readonly { name: string; usage: { cpu: string; memory: string } }[];
  /** What tables show; not part of the object. */
  readonly total: Usage;
}
interface MetricsQuery {
  readonly resource: 'nodes' | 'pods';
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly query: URLSearchParams;
}

/** The usage of nodes is that of all their pods, which are read at most this often. */
const NODES_MS = WINDOW_MS;

export class MetricsServer {
  private readonly options: MetricsOptions;
  private readonly server: Server;
  private readonly sockets = new Set<Duplex>();
  private readonly apiVersion: string;
  private sums: { readonly at: number; readonly byNode: Promise<Map<string, Usage>> } | undefined;

  constructor(options: MetricsOptions) {
    this.options = options;
    this.apiVersion = joinApiVersion(groupName(options.identity, 'metrics'), VERSION);
    this.server = createServer((req, res) => {
      this.answer(req, res).catch((error: unknown) => this.refuse(res, error));
    });
    this.server.on('upgrade', (_req, socket: Duplex) => socket.destroy());
  }
  readonly connect = (): Duplex => {
    const [client, server] = LocalSocket.pair();
    this.sockets.add(server);
    server.once('close', () => this.sockets.delete(server));
    this.server.emit('connection', server as unknown as Socket);
    return client;
  };
  close(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  private async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const [path = '', search = ''] = (req.url ?? '').split('?');
    const [, group, version, ...parts] = path
      .split('/')
      .filter((part) => part !== '')
      .map(decodeURIComponent);
    const apiVersion = `${group}/${version}`;
    if (apiVersion !== this.apiVersion) {
      if (parts.length > 0) throw pathNotFound();
      return send(res, 200, resourceList(apiVersion, []));
    }
    if (req.method !== 'GET' && req.method !== 'HEAD')
      throw methodNotAllowed(
        { group: groupName(this.options.identity, 'metrics'), resource: parts[0] ?? '' },
        (req.method ?? '').toLowerCase(),
      );
    if (parts.length === 0) return send(res, 200, resourceList(apiVersion, resources));
    const query = new URLSearchParams(search);
    if (query.get('watch') === 'true' || query.get('watch') === '1')
      throw methodNotAllowed({ group: groupName(this.options.identity, 'metrics'), resource: parts[0] ?? '' }, 'watch');
    const metricsQuery = wantedOf(parts, query);
    const metricsList = metricsQuery.resource === 'nodes' ? await this.nodes(metricsQuery) : await this.pods(metricsQuery);
    const asTable = /as=Table/.test(req.headers.accept ?? '') ? this.tableGroup(req.headers.accept ?? '') : undefined;
    if (asTable !== undefined) return send(res, 200, this.table(metricsList, asTable));
    const kind = metricsQuery.resource === 'nodes' ? 'NodeMetrics' : 'PodMetrics';
    if (metricsQuery.name !== undefined)
      return send(res, 200, { kind, apiVersion: this.apiVersion, ...metricsObject(metricsList[0] as Metrics) });
    send(res, 200, { kind: `${kind}List`, apiVersion: this.apiVersion, metadata: {}, items: metricsList.map(metricsObject) });
  }

  private async pods({ namespace, name, query }: MetricsQuery): Promise<Metrics[]> {
    const { client } = this.options;
    const simulated = await this.simulatedNodes();
    const namespaces = await this.namespaces(namespace);
    const podMetrics: Metrics[] = [];
    if (name !== undefined) {
      const pod = await client.find<WorkloadPod>(refs.pods, namespace ?? '', name);
      const metrics = pod === undefined ? undefined : this.podMetrics(pod, simulated, namespaces);
      if (metrics === undefined)
        throw notFound({ group: groupName(this.options.identity, 'metrics'), resource: 'pods' }, `${namespace}/${name}`);
      return [metrics];
    }
    for await (const pod of client.each<WorkloadPod>(refs.pods, namespace, selectors(query))) {
      const metrics = this.podMetrics(pod, simulated, namespaces);
      if (metrics !== undefined) podMetrics.push(metrics);
    }
    return podMetrics;
  }
  /** The annotations of namespaces. */
  private async namespaces(name?: string): Promise<ReadonlyMap<string, Annotations>> {
    const annotationsByName = new Map<string, Annotations>();
    const selector = name === undefined ? {} : { fieldSelector: `metadata.name=${name}` };
    for await (const { metadata } of this.options.client.each<ApiObject>(refs.namespaces, undefined, selector))
      annotationsByName.set(metadata.name ?? '', metadata.annotations);
    return annotationsByName;
  }
  /** Undefined for a pod that does not run on a simulated node. */
  private podMetrics(pod: WorkloadPod, simulated: ReadonlySet<string>, namespaces: ReadonlyMap<string, Annotations>): Metrics | undefined {
    const { identity, clock } = this.options;
    if (!isUsing(pod) || !simulated.has(pod.spec?.nodeName ?? '')) return undefined;
    const now = clock.now();
    const { name = '', namespace = '', labels } = pod.metadata;
    const annotated = { identity, pod, ofNamespace: namespaces.get(namespace) };
    const usages = (pod.spec?.containers ?? []).map((container) => [container.name, containerUsage(annotated, container, now)] as const);
    return {
      metadata: { name, namespace, ...(labels !== undefined && { labels }) },
      ...this.times(now),
      containers: usages.map(([container, usage]) => ({ name: container, usage: usageTexts(usage) })),
      total: sumOf(usages.map(([, usage]) => usage)),
    };
  }
  private times(now: number): { timestamp: string; window: string } {
    return { timestamp: formatTime(now), window: `${WINDOW_MS / 1000}s` };
  }

  private async nodes({ name, query }: MetricsQuery): Promise<Metrics[]> {
    const { client, identity, clock } = this.options;
    const now = clock.now();
    const of = (node: NodeObject, sums: ReadonlyMap<string, Usage>): Metrics => {
      const { name: node_ = '', labels } = node.metadata;
      const total = sums.get(node_) ?? nodeUsage([]);
      return { metadata: { name: node_, ...(labels !== undefined && { labels }) }, ...this.times(now), usage: usageTexts(total), total };
    };
    if (name !== undefined) {
      const node = await client.find<NodeObject>(refs.nodes, '', name);
      if (node === undefined || !isSimulated(identity, node))
        throw notFound({ group: groupName(identity, 'metrics'), resource: 'nodes' }, name);
      return [of(node, await this.sumsByNode())];
    }
    const sums = await this.sumsByNode();
    const nodeMetrics: Metrics[] = [];
    for await (const node of client.each<NodeObject>(refs.nodes, undefined, selectors(query))) {
      if (isSimulated(identity, node)) nodeMetrics.push(of(node, sums));
    }
    return nodeMetrics;
  }
  private async simulatedNodes(): Promise<ReadonlySet<string>> {
    return new Set((await this.sumsByNode()).keys());
  }
  /** The usage of every simulated node. */
  private sumsByNode(): Promise<Map<string, Usage>> {
    const now = this.options.clock.now();
    if (this.sums !== undefined && now - this.sums.at < NODES_MS && now >= this.sums.at) return this.sums.byNode;
    const byNode = this.sumAll(now);
    this.sums = { at: now, byNode };
    // A failure is not kept.
    byNode.catch(() => {
      this.sums = undefined;
    });
    return byNode;
  }
  private async sumAll(now: number): Promise<Map<string, Usage>> {
    const { client, identity } = this.options;
    const byNode = new Map<string, Usage>();
    const namespaces = await this.namespaces();
    for await (const node of client.each<NodeObject>(refs.nodes, undefined)) {
      if (isSimulated(identity, node)) byNode.set(node.metadata.name ?? '', nodeUsage([]));
    }
    for await (const pod of client.each<WorkloadPod>(refs.pods, undefined)) {
      const node = pod.spec?.nodeName ?? '';
      const nodeUsage = byNode.get(node);
      if (nodeUsage === undefined || !isUsing(pod)) continue;
      const annotated = { identity, pod, ofNamespace: namespaces.get(pod.metadata.namespace ?? '') };
      const usages = (pod.spec?.containers ?? []).map((container) => containerUsage(annotated, container, now));
      byNode.set(node, sumOf(usages, nodeUsage));
    }
    return byNode;
  }

  /** The group of the table that the client accepts. */
  private tableGroup(accept: string): string | undefined {
    return metaGroups.find((group) => accept.includes(`g=${group}`));
  }
  private table(metricsList: readonly Metrics[], group: string): object {
    const column = (name: string, type = 'string') => ({ name, type, format: name === 'Name' ? 'name' : '', description: '', priority: 0 });
    const apiVersion = joinApiVersion(group, 'v1');
    return {
      kind: 'Table',
      apiVersion,
      metadata: {},
      columnDefinitions: ['Name', 'Cpu', 'Memory', 'Window'].map((name) => column(name)),
      rows: metricsList.map(({ metadata, total, window }) => ({
        cells: [metadata.name, usageTexts(total).cpu, usageTexts(total).memory, window],
        object: { kind: 'PartialObjectMetadata', apiVersion, metadata },
      })),
    };
  }

  private refuse(res: ServerResponse, error: unknown): void {
    if (res.headersSent) {
      res.destroy();
      return;
    }
    const fault = error instanceof ApiError ? error : internalError('the metrics cannot be read');
    send(res, fault.code, fault.status());
  }
}

const resourceList = (groupVersion: string, all: readonly object[]): object => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion,
  resources: all,
});
const resources = [
  { name: 'nodes', singularName: '', namespaced: false, kind: 'NodeMetrics', verbs: ['get', 'list'] },
  { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] },
];

/** A pod has metrics while all its containers run: one that waits for its restart uses nothing. */
const isUsing = ({ status }: WorkloadPod): boolean =>
  status?.phase === 'Running' && (status.containerStatuses ?? []).every(({ state }) => state?.running != null);

const metricsObject = ({ total: _total, ...metrics }: Metrics): object => metrics;

function send(res: ServerResponse, status: number, body: object): void {
  const text = `${jsonText(body)}\n`;
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  res.end(text);
}

function selectors(query: URLSearchParams): { labelSelector?: string; fieldSelector?: string } {
  const labelSelector = query.get('labelSelector') ?? '';
  const fieldSelector = query.get('fieldSelector') ?? '';
  return { ...(labelSelector !== '' && { labelSelector }), ...(fieldSelector !== '' && { fieldSelector }) };
}

/** `nodes`, `nodes/NAME`, `pods`, `namespaces/NS/pods`, `namespaces/NS/pods/NAME` */
function wantedOf(parts: readonly string[], query: URLSearchParams): MetricsQuery {
  const [namespace, rest] = parts[0] === 'namespaces' ? [parts[1], parts.slice(2)] : [undefined, parts];
  const [resource, name, ...more] = rest;
  if (more.length > 0 || (resource !== 'pods' && !(resource === 'nodes' && namespace === undefined))) throw pathNotFound();
  if (resource === 'pods' && name !== undefined && namespace === undefined) throw badRequest('a pod is named within its namespace');
  return { resource, namespace, name, query };
}
