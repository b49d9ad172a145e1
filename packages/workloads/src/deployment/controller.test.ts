import { FakeApi, type Loose, runControllers, type TestRun } from '@plat-dev/controllers/testing';
import { jsonText } from '@plat-dev/lib/json-text';
import { atOnce } from '@plat-dev/lib/slices';
import { turnsOf } from '@plat-dev/lib/slices.testing';
import { kubernetes, plat } from '@plat-dev/meta/identity';
import { formatTime } from '@plat-dev/meta/time';
import { afterEach, expect, test } from 'vitest';
import { replicaController } from '../replicaset/controller.ts';
import { replicaSets } from '../replicaset/kinds.ts';
import { templateHash } from '../shared/template-hash.ts';
import { WorkloadApi, workloadKinds } from '../shared/workload-api.testing.ts';
import { deploymentController } from './controller.ts';

const { pods, deployments, replicaSets: setKind } = workloadKinds;
let running: TestRun | undefined;
let release: () => void = () => {};
afterEach(async () => {
  release();
  await running?.stop();
  running = undefined;
});

class World {
  readonly api = new WorkloadApi();
  readonly run: TestRun;
  constructor(identity = kubernetes) {
    this.run = runControllers(
      this.api,
      [deploymentController, replicaController(replicaSets, { deletionCost: true, logarithmic: true })],
      identity,
    );
    running = this.run;
  }
  create(replicas: number, more: Loose = {}): void {
    const { metadata = {}, ...spec } = more;
    this.api.make(deployments, {
      metadata: { name: 'web', ...metadata },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: templateOf('v1'),
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        ...spec,
      },
    });
  }
  edit(change: (spec: Loose, object: Loose) => void): void {
    this.api.edit(deployments, 'web', (object) => change(object.spec, object));
  }
  image(version: string): void {
    this.edit((spec) => {
      spec.template = templateOf(version);
    });
  }
  scale(replicas: number): void {
    this.edit((spec) => {
      spec.replicas = replicas;
    });
  }
  get status(): Loose {
    return this.api.one(deployments, 'web').status;
  }
  condition(type: string): string | undefined {
    const found = (this.status.conditions ?? []).find((one: Loose) => one.type === type);
    return found === undefined ? undefined : `${found.status} ${found.reason}`;
  }
  set(version: string): Loose {
    return this.api.all(setKind).find(({ spec }) => spec.template.spec.containers[0].image === version);
  }
  /** Sizes of the sets by the version of their template. */
  get sizes(): Record<string, number> {
    return Object.fromEntries(this.api.all(setKind).map(({ spec }) => [spec.template.spec.containers[0].image, spec.replicas]));
  }
  /** All pods become ready, again and again, until nothing changes. */
  async settle(): Promise<void> {
    for (let before = ''; before !== jsonText(this.api.all(pods)); ) {
      await this.run.idle();
      before = jsonText(this.api.all(pods));
      this.api.runAll();
      await this.api.end();
      await this.run.pass(1000);
    }
  }
}
const labels = { app: 'web' };
const templateOf = (version: string): Loose => ({
  metadata: { labels },
  spec: { containers: [{ name: 'c', image: version }] },
});

test('a new deployment has a replica set of its template, of the first revision, and its pods', async () => {
  const world = new World();
  world.create(2, { minReadySeconds: 0, metadata: { annotations: { note: 'x' } } });
  await world.run.idle();
  const [set] = world.api.all(setKind);
  const hash = set.metadata.labels['pod-template-hash'];
  expect(set).toMatchObject({
    metadata: {
      name: `web-${hash}`,
      labels: { app: 'web', 'pod-template-hash': hash },
      annotations: {
        note: 'x',
        'deployment.kubernetes.io/revision': '1',
        'deployment.kubernetes.io/desired-replicas': '2',
        'deployment.kubernetes.io/max-replicas': '3',
      },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', controller: true, blockOwnerDeletion: true }],
    },
    spec: { replicas: 2, selector: { matchLabels: { app: 'web', 'pod-template-hash': hash } } },
  });
  expect(set.spec.template.metadata.labels).toEqual({ app: 'web', 'pod-template-hash': hash });
  expect(world.api.one(deployments, 'web').metadata.annotations).toEqual({ note: 'x', 'deployment.kubernetes.io/revision': '1' });
  expect(world.status).toMatchObject({ observedGeneration: 1, replicas: 2, updatedReplicas: 2, unavailableReplicas: 2 });
  expect([world.condition('Available'), world.condition('Progressing')]).toEqual([
    'False MinimumReplicasUnavailable',
    'True ReplicaSetUpdated',
  ]);
  expect(world.api.reports('ScalingReplicaSet')).toEqual([`Scaled up replica set web-${hash} to 2`]);
  await world.settle();
  expect(world.status).toMatchObject({ replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 });
  expect(world.status.unavailableReplicas).toBeUndefined();
  expect(world.status.conditions.find(({ type }: Loose) => type === 'Progressing').message).toBe(
    `ReplicaSet "web-${hash}" has successfully progressed.`,
  );
  expect([world.condition('Available'), world.condition('Progressing'), world.run.failures]).toEqual([
    'True MinimumReplicasAvailable',
    'True NewReplicaSetAvailable',
    [],
  ]);
  const before = world.api.calls.length;
  await world.run.pass(3_600_000);
  expect(world.api.calls.slice(before)).toEqual([]);
});

test('its annotations are those of the identity', async () => {
  const world = new World(plat);
  world.create(1);
  await world.run.idle();
  expect(Object.keys(world.api.all(setKind)[0].metadata.annotations).sort()).toEqual([
    'deployment.plat.dev/desired-replicas',
    'deployment.plat.dev/max-replicas',
    'deployment.plat.dev/revision',
  ]);
});

test('a rolling update replaces pods one by one within its limits', async () => {
  const world = new World();
  world.create(3);
  await world.settle();
  world.image('v2');
  await world.run.idle();
  expect(world.sizes).toEqual({ v1: 3, v2: 1 });
  // Without a new pod that is available nothing goes on.
  await world.run.pass(60_000);
  expect(world.sizes).toEqual({ v1: 3, v2: 1 });
  world.api.runAll();
  await world.run.idle();
  expect(world.sizes).toEqual({ v1: 2, v2: 2 });
  await world.settle();
  expect(world.sizes).toEqual({ v1: 0, v2: 3 });
  expect(world.api.one(deployments, 'web').metadata.annotations).toEqual({ 'deployment.kubernetes.io/revision': '2' });
  const [one, two] = [world.set('v1').metadata.name, world.set('v2').metadata.name];
  expect(world.api.reports('ScalingReplicaSet')).toEqual([
    `Scaled up replica set ${one} to 3`,
    `Scaled up replica set ${two} to 1`,
    `Scaled down replica set ${one} to 2`,
    `Scaled up replica set ${two} to 2`,
    `Scaled down replica set ${one} to 1`,
    `Scaled up replica set ${two} to 3`,
    `Scaled down replica set ${one} to 0`,
  ]);
  expect(world.condition('Progressing')).toBe('True NewReplicaSetAvailable');
});

/** Holds back requests about pods until `release` is called. */
function holdBack(api: WorkloadApi, method: string): void {
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  api.before = (sent, path) => (sent === method && /\/pods(\/|$)/.test(path) ? held : undefined);
}
const turns = async (): Promise<void> => {
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
};

test('pods that are still to be deleted count: no new ones take their place before', async () => {
  const world = new World();
  world.create(10, { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } });
  await world.settle();
  holdBack(world.api, 'DELETE');
  world.image('v2');
  await turns();
  expect([world.sizes, world.api.activePods().length]).toEqual([{ v1: 8, v2: 3 }, 13]);
  release();
  await world.run.idle();
  expect([world.sizes, world.api.activePods().length]).toEqual([{ v1: 8, v2: 5 }, 13]);
});

test('pods that a replica set is still creating count, even if it has become smaller', async () => {
  const world = new World();
  holdBack(world.api, 'POST');
  world.create(4, { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 2 } } });
  await turns();
  world.image('v2');
  await turns();
  expect(world.sizes).toEqual({ v1: 4 });
  let most = 0;
  world.api.changed = () => {
    most = Math.max(most, world.api.activePods().length);
  };
  release();
  await world.settle();
  expect([world.sizes, most]).toEqual([{ v1: 0, v2: 4 }, 5]);
});

test('the first template again is a rollback: its replica set has the highest revision', async () => {
  const world = new World();
  world.create(2);
  await world.settle();
  world.image('v2');
  await world.settle();
  world.image('v1');
  await world.settle();
  expect(world.sizes).toEqual({ v1: 2, v2: 0 });
  expect(world.set('v1').metadata.annotations).toMatchObject({
    'deployment.kubernetes.io/revision': '3',
    'deployment.kubernetes.io/revision-history': '1',
  });
  expect(world.set('v2').metadata.annotations['deployment.kubernetes.io/revision']).toBe('2');
  expect(world.api.one(deployments, 'web').metadata.annotations['deployment.kubernetes.io/revision']).toBe('3');
});

test('a template that never becomes ready is replaced by the next one, and its pods go first', async () => {
  const world = new World();
  world.create(4);
  await world.settle();
  world.image('broken');
  await world.run.idle();
  expect(world.sizes).toEqual({ v1: 4, broken: 1 });
  world.image('v3');
  await world.run.idle();
  expect(world.sizes).toEqual({ v1: 4, broken: 0, v3: 1 });
  await world.settle();
  expect(world.sizes).toEqual({ v1: 0, broken: 0, v3: 4 });
});

test('recreate waits until the last old pod is gone', async () => {
  const world = new World();
  world.api.isGraceful = true;
  world.create(2, { strategy: { type: 'Recreate' } });
  await world.settle();
  world.image('v2');
  await world.run.idle();
  expect([world.sizes, world.api.all(pods).length, world.api.activePods().length]).toEqual([{ v1: 0 }, 2, 0]);
  const [first] = world.api.all(pods);
  world.api.fail(first);
  await world.run.idle();
  expect(world.sizes).toEqual({ v1: 0 });
  await world.api.end();
  await world.run.idle();
  expect(world.sizes).toEqual({ v1: 0, v2: 2 });
  await world.settle();
  expect([world.status.availableReplicas, world.condition('Progressing')]).toEqual([2, 'True NewReplicaSetAvailable']);
});

test('only as many old replica sets are kept as the history limit says', async () => {
  const world = new World();
  world.create(1, { revisionHistoryLimit: 2 });
  for (const version of ['v1', 'v2', 'v3', 'v4']) {
    world.image(version);
    await world.settle();
  }
  expect(Object.keys(world.sizes).sort()).toEqual(['v2', 'v3', 'v4']);
  world.edit((spec) => {
    spec.revisionHistoryLimit = 0;
  });
  await world.settle();
  expect(Object.keys(world.sizes)).toEqual(['v4']);
});

test('a paused deployment is scaled and not rolled out, and the time does not count', async () => {
  const world = new World();
  world.create(2);
  await world.settle();
  world.edit((spec) => {
    spec.paused = true;
    spec.template = templateOf('v2');
    spec.replicas = 3;
  });
  await world.settle();
  expect([world.sizes, world.condition('Progressing')]).toEqual([{ v1: 3 }, 'Unknown DeploymentPaused']);
  await world.run.pass(3_600_000);
  world.edit((spec) => {
    spec.paused = false;
  });
  await world.run.idle();
  expect([world.sizes, world.condition('Progressing')]).toEqual([{ v1: 3, v2: 1 }, 'True ReplicaSetUpdated']);
  await world.settle();
  expect(world.sizes).toEqual({ v1: 0, v2: 3 });
});

test('a pause during a rollout leaves the sizes as they are, also under other limits', async () => {
  const world = new World();
  world.create(10, { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } });
  await world.settle();
  world.image('v2');
  await world.run.idle();
  world.edit((spec) => {
    spec.paused = true;
    spec.strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
  });
  await world.settle();
  expect(world.sizes).toEqual({ v1: 8, v2: 5 });
});

test('one that is created paused has no replica set until it is resumed', async () => {
  const world = new World();
  world.create(1, { paused: true });
  await world.run.idle();
  expect([world.sizes, world.condition('Progressing'), world.status.observedGeneration]).toEqual([{}, 'Unknown DeploymentPaused', 1]);
  world.edit((spec) => {
    spec.paused = false;
  });
  await world.run.idle();
  expect(world.sizes).toEqual({ v1: 1 });
});

test('scaling during a rollout keeps the proportions of the replica sets', async () => {
  const world = new World();
  world.create(10, { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } } });
  await world.settle();
  world.image('v2');
  await world.run.idle();
  expect(world.sizes).toEqual({ v1: 8, v2: 5 });
  world.scale(30);
  await world.run.idle();
  // 20 are added in proportion.
  expect(world.sizes).toEqual({ v1: 20, v2: 13 });
  expect(world.set('v1').metadata.annotations).toMatchObject({
    'deployment.kubernetes.io/desired-replicas': '30',
    'deployment.kubernetes.io/max-replicas': '33',
  });
  await world.settle();
  expect([world.sizes, world.status.availableReplicas]).toEqual([{ v1: 0, v2: 30 }, 30]);
});

test('scaling to zero and back leaves nothing behind', async () => {
  const world = new World();
  world.create(3);
  await world.settle();
  world.scale(0);
  await world.settle();
  expect([world.api.all(pods).length, world.status.replicas, world.condition('Available')]).toEqual([
    0,
    undefined,
    'True MinimumReplicasAvailable',
  ]);
  world.scale(2);
  await world.settle();
  expect([world.api.all(pods).length, world.status.availableReplicas]).toEqual([2, 2]);
});

test('a rollout without progress is reported when its deadline has passed, and goes on afterwards', async () => {
  const world = new World();
  world.create(2, { progressDeadlineSeconds: 30 });
  await world.settle();
  world.image('v2');
  await world.run.idle();
  await world.run.pass(30_000);
  expect(world.condition('Progressing')).toBe('True ReplicaSetUpdated');
  await world.run.pass(1);
  expect(world.condition('Progressing')).toBe('False ProgressDeadlineExceeded');
  await world.settle();
  expect([world.sizes, world.condition('Progressing')]).toEqual([{ v1: 0, v2: 2 }, 'True NewReplicaSetAvailable']);
});

test('pods that a quota refuses are a condition of the deployment', async () => {
  const world = new World();
  let isRefused = true;
  world.api.before = (method, path) => {
    if (isRefused && method === 'POST' && path.endsWith('/pods')) FakeApi.refuse(403, 'Forbidden', 'exceeded quota');
  };
  world.create(2);
  await world.run.idle();
  expect([world.condition('ReplicaFailure'), world.status.unavailableReplicas]).toEqual(['True FailedCreate', 2]);
  isRefused = false;
  await world.settle();
  await world.run.pass(60_000);
  await world.settle();
  expect([world.condition('ReplicaFailure'), world.status.availableReplicas]).toEqual([undefined, 2]);
});

test('a replica set that cannot be created is a condition and an event', async () => {
  const world = new World();
  let isRefused = true;
  world.api.before = (method, path) => {
    if (isRefused && method === 'POST' && path.endsWith('/replicasets')) FakeApi.refuse(403, 'Forbidden', 'no');
  };
  world.create(1);
  await world.run.idle();
  expect(world.condition('Progressing')).toBe('False ReplicaSetCreateError');
  expect(world.api.reports('ReplicaSetCreateError')[0]).toMatch(/^Failed to create new replica set "web-[a-z0-9]+": no$/);
  isRefused = false;
  await world.run.pass(60_000);
  expect([world.sizes, world.condition('Progressing')]).toEqual([{ v1: 1 }, 'True ReplicaSetUpdated']);
});

test('the replica set of a large template is made in many turns', async () => {
  const world = new World();
  const hostAliases = Array.from({ length: 10_000 }, (_, i) => ({ ip: '10.0.0.1', hostnames: [`h${i}`] }));
  const { metadata, spec } = templateOf('v1');
  await world.run.idle();
  const turns = await turnsOf(async () => {
    const created = new Promise<void>((resolve) => {
      world.api.before = (method, path) => {
        if (method === 'POST' && path.endsWith('/replicasets')) resolve();
      };
    });
    world.create(0, { template: { metadata, spec: { ...spec, hostAliases } } });
    await created;
  });
  expect(turns).toBeGreaterThan(40);
});

test('where the name of a replica set is taken by another, the next hash is used', async () => {
  const world = new World();
  const name = `web-${atOnce(templateHash(templateOf('v1')))}`;
  world.api.make(setKind, {
    metadata: { name, labels: { app: 'other' } },
    spec: { replicas: 0, selector: { matchLabels: { app: 'other' } }, template: templateOf('other') },
  });
  world.create(1);
  await world.run.idle();
  const own = world.api.all(setKind).filter(({ metadata }) => metadata.ownerReferences !== undefined);
  expect([own.length, own[0]?.metadata.name === name, world.status.collisionCount]).toEqual([1, false, 1]);
  expect(world.api.all(pods)).toHaveLength(1);
});

test('replica sets that match are adopted, and scaled down as old ones', async () => {
  const world = new World();
  const set = { replicas: 2, selector: { matchLabels: { app: 'web' } }, template: templateOf('v0') };
  const annotations = { 'deployment.kubernetes.io/revision': '3546343826724305832' };
  world.api.make(setKind, { metadata: { name: 'bare', labels, annotations }, spec: set });
  await world.run.idle();
  world.create(2);
  await world.settle();
  expect(world.api.one(setKind, 'bare').metadata.ownerReferences).toMatchObject([{ kind: 'Deployment', name: 'web', controller: true }]);
  expect(world.sizes).toEqual({ v0: 0, v1: 2 });
  expect(world.set('v1').metadata.annotations['deployment.kubernetes.io/revision']).toBe('3546343826724305833');
  // Without the labels it is released.
  world.api.edit(setKind, 'bare', (object) => {
    object.metadata.labels = {};
  });
  await world.run.idle();
  expect(world.api.one(setKind, 'bare').metadata.ownerReferences).toEqual([]);
});

test('two deployments with the same selector keep to their own replica sets', async () => {
  const world = new World();
  world.create(1);
  world.create(2, { metadata: { name: 'other' }, template: templateOf('v2') });
  await world.settle();
  expect(world.api.all(pods)).toHaveLength(3);
  const sizes = world.api.all(setKind).map(({ metadata, spec }) => [metadata.ownerReferences[0].name, spec.replicas]);
  expect(Object.fromEntries(sizes)).toEqual({ web: 1, other: 2 });
});

test('annotations and minimum ready seconds reach the replica set without a rollout', async () => {
  const world = new World();
  world.create(1);
  await world.settle();
  world.edit((spec, object) => {
    spec.minReadySeconds = 5;
    object.metadata.annotations.cause = 'why';
  });
  await world.settle();
  const set = world.set('v1');
  expect([world.api.all(setKind).length, set.spec.minReadySeconds, set.metadata.annotations.cause]).toEqual([1, 5, 'why']);
});

test('a deployment that is being deleted has its status kept up to date, and nothing else', async () => {
  const world = new World();
  world.create(2);
  await world.settle();
  await world.api.remove(deployments, 'a', 'web', 'Foreground');
  world.edit((spec) => {
    spec.template = templateOf('v2');
    spec.replicas = 5;
  });
  await world.run.idle();
  expect([world.sizes, world.status.observedGeneration]).toEqual([{ v1: 2 }, 2]);
});

test('a selector for everything is refused with a warning', async () => {
  const world = new World();
  world.create(1, { selector: {} });
  await world.run.idle();
  expect([world.sizes, world.status.observedGeneration, world.api.reports('SelectingAll')]).toEqual([
    {},
    1,
    ['This deployment is selecting all pods. A non-empty selector is required.'],
  ]);
});

test('a rollback that an old client requests by an annotation is done', async () => {
  const world = new World();
  world.create(1);
  await world.settle();
  world.image('v2');
  await world.settle();
  world.edit((_, object) => {
    object.metadata.annotations['deprecated.deployment.rollback.to'] = '0';
  });
  await world.settle();
  expect([world.sizes, world.api.reports('DeploymentRollback')]).toEqual([
    { v1: 1, v2: 0 },
    ['Rolled back deployment "web" to revision 1'],
  ]);
  expect(world.api.one(deployments, 'web').metadata.annotations).toEqual({ 'deployment.kubernetes.io/revision': '3' });
});

test('a deployment that changes while its status is written is looked at again', async () => {
  const world = new World();
  world.create(1);
  let isFirst = true;
  world.api.before = (method, path) => {
    if (!isFirst || method !== 'PUT' || !path.endsWith('deployments/web/status')) return;
    isFirst = false;
    world.scale(3);
  };
  await world.settle();
  expect([world.sizes, world.status.observedGeneration, world.run.failures]).toEqual([{ v1: 3 }, 2, []]);
});

test('the time of a condition is that of the clock', async () => {
  const world = new World();
  await world.run.pass(86_400_000);
  world.create(1);
  await world.run.idle();
  expect(world.status.conditions[0].lastUpdateTime).toBe(formatTime(world.run.clock.now()));
});
