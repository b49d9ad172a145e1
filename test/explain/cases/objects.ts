/** Objects of constructed cases. */
import type { Loose } from '../../support/server.ts';
import { container, pod, type Question, type World } from '../world.ts';

export const labels = { app: 'web' };
export const selector = { matchLabels: labels };
export const template = { metadata: { labels }, spec: { containers: [container] } };
export const ready = [{ type: 'Ready', status: 'True' }];

export const node = (name: string, more: Loose = {}): Loose => ({
  metadata: { name, labels: { 'kubernetes.io/hostname': name, ...more.labels } },
  spec: more.spec ?? {},
  status: { conditions: more.conditions ?? ready, allocatable: { cpu: '1', memory: '1Gi', pods: '10', ...more.allocatable } },
});
export const claim = (spec: object = {}, metadata: object = {}): Loose => ({
  metadata: { name: 'data', ...metadata },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
});
export const usesClaim = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] };
export const volume = (name: string, storage: string, spec: object = {}, status: object = { phase: 'Available' }): Loose => ({
  metadata: { name },
  spec: { capacity: { storage }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' }, ...spec },
  status,
});

/** The status of a container that runs and is not ready. */
export const running = (more: object = {}): Loose => ({
  name: 'main',
  image: container.image,
  imageID: '',
  ready: false,
  restartCount: 0,
  state: { running: {} },
  ...more,
});
export const waiting = (reason: string, more: object = {}): Loose => running({ state: { waiting: { reason } }, ...more });

/** A pod on a node, with containers in a state. */
export const podOn = (name: string, containerStatuses: object[], more: Loose = {}): Loose => ({
  ...pod(name, { nodeName: 'n1', ...more.spec }, { labels, ...more.metadata }),
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }], containerStatuses, ...more.status },
});

/** A warning about an object. */
export async function event(world: World, { apiVersion, kind, metadata }: Loose, reason: string, message: string): Promise<void> {
  const involvedObject = { apiVersion, kind, namespace: world.ns, name: metadata.name, uid: metadata.uid };
  await world.put('events', { metadata: { name: world.name('e') }, involvedObject, type: 'Warning', reason, message });
}

export const core = (world: World, resource: string, name: string): Question => ({ resource, namespace: world.ns, name });
