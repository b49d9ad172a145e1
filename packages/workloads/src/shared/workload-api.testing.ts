/**
 * The fake server with what workload controllers rely on: generations, status as a subresource, and pods that terminate until the
 * test, which plays the nodes, ends them.
 */

import type { HttpAnswer, HttpRequest } from '@plat-dev/client/http';
import { FakeApi, type FakeKind, fakeKinds, type Loose } from '@plat-dev/controllers/testing';
import { FakeClock } from '@plat-dev/lib/clock';
import { equal } from '@plat-dev/lib/equal';
import { jsonText } from '@plat-dev/lib/json-text';
import { formatTime } from '@plat-dev/meta/time';

const apps = (name: string, kind: string): FakeKind => ({ group: 'apps', version: 'v1', name, kind, namespaced: true });
export const workloadKinds = {
  pods: fakeKinds.pods,
  events: { group: '', version: 'v1', name: 'events', kind: 'Event', namespaced: true },
  deployments: apps('deployments', 'Deployment'),
  replicaSets: apps('replicasets', 'ReplicaSet'),
  replicationControllers: { group: '', version: 'v1', name: 'replicationcontrollers', kind: 'ReplicationController', namespaced: true },
} as const satisfies Record<string, FakeKind>;
const { pods, events } = workloadKinds;

/** Held by the node that runs a pod. */
const NODE_FINALIZER = 'test/node';
const NAMESPACE = 'a';

export class WorkloadApi extends FakeApi {
  /** Whether deleted pods terminate until `end` is called. */
  isGraceful = false;
  /** Called after each request that changed something. */
  changed: (method: string, kind: string) => void = () => {};
  private readonly byPlural: ReadonlyMap<string, FakeKind>;

  constructor(kinds: readonly FakeKind[] = Object.values(workloadKinds), clock = new FakeClock()) {
    super(kinds, clock);
    this.byPlural = new Map(kinds.map((kind) => [kind.name, kind]));
  }
  get fakeClock(): FakeClock {
    return this.clock as FakeClock;
  }
  override async request(request: HttpRequest): Promise<HttpAnswer> {
    const { method = 'GET', path, body } = request;
    const match = /\/namespaces\/([^/?]+)\/([^/?]+)(?:\/([^/?]+))?(\/status)?$/.exec(path);
    const kind = this.byPlural.get(match?.[2] ?? '');
    if (match === null || kind === undefined || method === 'GET') return super.request(request);
    const prepared =
      body === undefined || method === 'DELETE'
        ? body
        : jsonText(this.prepare(method, kind, match[3], match[4] !== undefined, JSON.parse(body.toString())));
    const answer = await super.request({ ...request, ...(prepared !== undefined && { body: prepared }) });
    if (answer.status < 300) this.changed(method, kind.name);
    return answer;
  }

  /** Creates an object as a client does. */
  make(kind: FakeKind, object: Loose): Loose {
    const status = kind === pods ? {} : { replicas: 0 };
    return this.put(kind, { status, ...object, metadata: { namespace: NAMESPACE, generation: 1, ...object.metadata } });
  }
  /** Changes the spec or the metadata of an object as a client does. */
  edit(kind: FakeKind, name: string, change: (object: Loose) => void): Loose {
    const before = this.get(kind, NAMESPACE, name);
    const object = structuredClone(before);
    change(object);
    if (!equal(object.spec, before.spec)) object.metadata.generation = (before.metadata.generation ?? 0) + 1;
    return this.put(kind, object);
  }
  one(kind: FakeKind, name: string): Loose {
    return this.get(kind, NAMESPACE, name);
  }
  /** Pods that are neither finished nor terminating. */
  activePods(): Loose[] {
    return this.all(pods).filter(
      ({ metadata, status }) => metadata.deletionTimestamp === undefined && !['Failed', 'Succeeded'].includes(status?.phase),
    );
  }
  /** Says that a pod runs, and whether it is ready. */
  run(pod: Loose, isReady = true, nodeName = 'n1'): void {
    const lastTransitionTime = formatTime(this.clock.now());
    this.put(pods, {
      ...pod,
      spec: { ...pod.spec, nodeName },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime }] },
    });
  }
  /** All pods that run nowhere yet become ready. */
  runAll(): void {
    for (const pod of this.activePods()) if (pod.status?.conditions?.[0]?.status !== 'True') this.run(pod);
  }
  fail(pod: Loose): void {
    this.put(pods, { ...pod, status: { phase: 'Failed' } });
  }
  /** Ends the pods that terminate. */
  async end(): Promise<void> {
    for (const pod of this.all(pods)) {
      if (pod.metadata.deletionTimestamp === undefined) continue;
      const path = `/api/v1/namespaces/${NAMESPACE}/pods/${pod.metadata.name}`;
      await this.request({ method: 'PATCH', path, body: JSON.stringify({ metadata: { finalizers: [] } }) });
    }
  }
  /** Events as `reason message`, without those of single pods. */
  reports(reason: string): string[] {
    return this.all(events)
      .filter((event) => event.reason === reason)
      .map((event) => event.message);
  }

  private prepare(method: string, kind: FakeKind, name: string | undefined, isStatus: boolean, body: Loose): Loose {
    if (method === 'POST') {
      const finalizers = kind === pods && this.isGraceful ? { finalizers: [NODE_FINALIZER] } : {};
      const status = kind === events ? {} : { status: kind === pods ? {} : { replicas: 0 } };
      return { ...body, ...status, metadata: { ...body.metadata, generation: 1, ...finalizers } };
    }
    const old = this.get(kind, NAMESPACE, name ?? '');
    if (old === undefined) return body;
    const { generation = 0 } = old.metadata;
    if (isStatus) {
      const { resourceVersion, annotations } = body.metadata;
      return {
        ...old,
        metadata: { ...old.metadata, resourceVersion, ...(annotations !== undefined && { annotations }) },
        status: body.status,
      };
    }
    const spec = method === 'PATCH' ? { ...old.spec, ...body.spec } : body.spec;
    const next = equal(spec, old.spec) ? generation : generation + 1;
    return { ...body, ...(method === 'PUT' && { status: old.status }), metadata: { ...body.metadata, generation: next } };
  }
}
