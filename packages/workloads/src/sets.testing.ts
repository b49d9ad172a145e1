/** A fake server with sets, and tests that play its nodes: they make pods ready, let them fail and end them. */

import type { Controller } from '@plat-dev/controllers/runtime/controller';
import { FakeApi, type FakeKind, fakeKinds, type Loose, runControllers, type TestRun } from '@plat-dev/controllers/testing';
import { FakeClock } from '@plat-dev/lib/clock';
import { formatTime } from '@plat-dev/meta/time';

const apps = (name: string, kind: string): FakeKind => ({ group: 'apps', version: 'v1', name, kind, namespaced: true });
const core = (name: string, kind: string, namespaced = true): FakeKind => ({ group: '', version: 'v1', name, kind, namespaced });

export const kinds = {
  statefulSets: apps('statefulsets', 'StatefulSet'),
  daemonSets: apps('daemonsets', 'DaemonSet'),
  revisions: apps('controllerrevisions', 'ControllerRevision'),
  pods: fakeKinds.pods,
  nodes: core('nodes', 'Node', false),
  claims: core('persistentvolumeclaims', 'PersistentVolumeClaim'),
  events: core('events', 'Event'),
};
export const ns = 'a';
/** Pods with it stay until the test ends them, as pods on nodes do. */
export const held = 'test/held';

export class SetsWorld {
  readonly clock = new FakeClock();
  readonly api = new FakeApi(Object.values(kinds), this.clock);
  readonly run: TestRun;

  constructor(controllers: readonly Controller[]) {
    this.run = runControllers(this.api, controllers);
  }
  idle(): Promise<void> {
    return this.run.idle();
  }
  get(kind: FakeKind, name: string): Loose {
    return this.api.get(kind, kind.namespaced ? ns : '', name);
  }
  /** Writes a changed copy, as a user does: the generation grows. */
  async change(kind: FakeKind, name: string, change: (object: Loose) => void): Promise<void> {
    const object = structuredClone(this.get(kind, name));
    change(object);
    object.metadata.generation = (object.metadata.generation ?? 1) + 1;
    this.api.put(kind, object);
    await this.idle();
  }
  pods(): Loose[] {
    return this.api.all(kinds.pods).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }
  names(): string[] {
    return this.pods().map(({ metadata }) => (metadata.deletionTimestamp === undefined ? metadata.name : `${metadata.name} (ending)`));
  }
  /** The pod runs, and is ready from now on or is not. */
  async phase(name: string, phase: string, isReady = phase === 'Running'): Promise<void> {
    const pod = structuredClone(this.get(kinds.pods, name));
    const lastTransitionTime = formatTime(this.clock.now());
    pod.status = { phase, conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime }] };
    this.api.put(kinds.pods, pod);
    await this.idle();
  }
  ready = (name: string): Promise<void> => this.phase(name, 'Running');
  /** A pod that is being deleted is gone. */
  async end(name: string): Promise<void> {
    const path = `/api/v1/namespaces/${ns}/pods/${name}`;
    await this.api.request({ method: 'PATCH', path, body: JSON.stringify({ metadata: { finalizers: [] } }) });
    await this.idle();
  }
  async remove(kind: FakeKind, name: string): Promise<void> {
    await this.api.remove(kind, kind.namespaced ? ns : '', name);
    await this.idle();
  }
  /** Reasons and messages of events. */
  events(): string[] {
    return this.api.all(kinds.events).map(({ type, reason, message }) => `${type} ${reason} ${message}`);
  }
  revisions(): Loose[] {
    return this.api.all(kinds.revisions).sort((a, b) => a.revision - b.revision);
  }
  /** Calls for every change of a pod from now on, with the state right after it. */
  async onPods(call: (type: string, pod: Loose) => void): Promise<void> {
    const { metadata } = JSON.parse((await this.api.request({ path: '/api/v1/pods' })).body.toString());
    const data = (chunk: Buffer): void => {
      const { type, object } = JSON.parse(chunk.toString());
      call(type, object);
    };
    await this.api.stream({ path: `/api/v1/pods?watch=1&resourceVersion=${metadata.resourceVersion}` }, { data, end: () => {} });
  }
}

export const template = (image: string, more: Loose = {}): Loose => ({
  metadata: { creationTimestamp: null, labels: { app: 'web' }, ...more.metadata },
  spec: { containers: [{ name: 'main', image }], ...more.spec },
});
export const imageOf = (pod: Loose): string => pod.spec.containers[0].image;
