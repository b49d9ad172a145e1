/** Whatever is changed in whatever order: the limits of a rollout hold at every request, and it ends as the spec asks. */

import { FakeApi, type Loose, runControllers, type TestRun } from '@plat-dev/controllers/testing';
import { jsonText } from '@plat-dev/lib/json-text';
import { seededRandom } from '@plat-dev/lib/random';
import { testSeed } from '@plat-dev/lib/testing/seed.testing';
import { timeMillis } from '@plat-dev/meta/time';
import { expect, test } from 'vitest';
import { replicaController } from '../replicaset/controller.ts';
import { replicaSets } from '../replicaset/kinds.ts';
import { controllerOf } from '../shared/pods.ts';
import { WorkloadApi, workloadKinds } from '../shared/workload-api.testing.ts';
import { deploymentController } from './controller.ts';
import { limitsOf } from './limits.ts';

const { pods, deployments, replicaSets: setKind } = workloadKinds;
const RUNS = 8;
const STEPS = 20;
const labels = { app: 'web' };
const templateOf = (version: number): Loose => ({ metadata: { labels }, spec: { containers: [{ name: 'c', image: `v${version}` }] } });

class RandomRollouts {
  private readonly api = new WorkloadApi();
  private readonly random;
  private readonly run: TestRun;
  /** A scaling during a rollout keeps proportions, whatever is available. */
  private isRescaled = false;
  /** What a client deletes is no decision of a controller. */
  private isActing = false;
  private isFailing = false;
  /** The sizes of all sets before the last action: where a limit was lowered they replace what they lose until they shrink. */
  private size = 0;
  private sizes = new Map<string, number>();
  private before: Loose[] = [];
  private readonly log: string[] = [];
  /** A request that breaks a limit must not fail itself: the controller would retry it. */
  private readonly violations: string[] = [];

  constructor(seed: number) {
    this.random = seededRandom(seed);
    this.api.isGraceful = this.random.below(2) === 0;
    this.api.changed = (method, kind) => this.check(method, kind);
    // Requests take their time, and some fail: controllers act on what others have not finished.
    this.api.before = async (method) => {
      for (let turns = this.random.below(6); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
      if (this.isFailing && !this.isActing && method !== 'WATCH' && this.random.below(30) === 0)
        FakeApi.refuse(500, 'InternalError', 'out of order');
    };
    this.api.make(deployments, {
      metadata: { name: 'web' },
      spec: {
        replicas: this.random.below(8),
        selector: { matchLabels: labels },
        template: templateOf(0),
        minReadySeconds: this.random.below(2) * 5,
        revisionHistoryLimit: this.random.below(3),
        progressDeadlineSeconds: 60,
        ...this.strategy(),
      },
    });
    this.run = runControllers(this.api, [deploymentController, replicaController(replicaSets, { deletionCost: true, logarithmic: true })]);
  }
  async play(): Promise<void> {
    await this.run.idle();
    this.isFailing = true;
    for (let step = 0; step < STEPS; step++) {
      this.before = this.api.all(pods);
      this.isActing = true;
      this.size = this.api.all(setKind).reduce((sum, { spec }) => sum + spec.replicas, 0);
      await this.act();
      this.isActing = false;
      await this.quiet();
    }
    await this.end();
    await this.run.stop();
  }

  private strategy(): Loose {
    if (this.random.below(4) === 0) return { strategy: { type: 'Recreate' } };
    const [maxSurge, maxUnavailable] = [this.random.below(4), this.random.below(4)];
    return {
      strategy: {
        type: 'RollingUpdate',
        rollingUpdate: { maxSurge, maxUnavailable: maxSurge === 0 ? maxUnavailable + 1 : maxUnavailable },
      },
    };
  }
  private edit(change: (spec: Loose) => void): void {
    this.api.edit(deployments, 'web', ({ spec }) => change(spec));
  }
  private get deployment(): Loose {
    return this.api.one(deployments, 'web');
  }
  private async act(): Promise<void> {
    const { api, random } = this;
    this.isRescaled = false;
    const active = api.activePods();
    const some = active[random.below(Math.max(active.length, 1))];
    const what = random.below(10);
    this.log.push(String(what));
    if (what === 0) this.edit((spec) => (spec.template = templateOf(random.below(4))));
    else if (what === 1) {
      this.isRescaled = api.all(setKind).filter(({ spec }) => spec.replicas > 0).length > 1;
      this.edit((spec) => (spec.replicas = random.below(9)));
    } else if (what === 2) this.edit((spec) => Object.assign(spec, this.strategy()));
    else if (what === 3) this.edit((spec) => (spec.paused = spec.paused !== true));
    else if (what === 4 && some !== undefined) api.fail(some);
    else if (what === 5 && some !== undefined) api.run(some, false);
    else if (what === 6 && some !== undefined) await api.remove(pods, 'a', some.metadata.name);
    else if (what === 7) await api.end();
    else for (const pod of active) if (random.below(3) > 0) api.run(pod, true, `n${random.below(3)}`);
  }
  /** Retries after conflicts are done, too. */
  private async quiet(): Promise<void> {
    await this.run.pass(this.random.below(2) === 0 ? 2000 : 7000);
    await this.run.pass(2000);
  }

  private isAvailable({ status, metadata }: Loose): boolean {
    if (metadata.deletionTimestamp !== undefined || status?.phase !== 'Running') return false;
    const ready = status.conditions?.[0];
    const min = (this.deployment.spec.minReadySeconds ?? 0) * 1000;
    return ready?.status === 'True' && timeMillis(ready.lastTransitionTime) + min <= this.api.clock.now();
  }
  private check(method: string, kind: string): void {
    const now = this.api.all(pods);
    const before = this.before;
    this.before = now;
    if (kind === 'replicasets') this.checkRecreate();
    if (kind !== 'pods' || this.isActing) return;
    const limits = limitsOf(this.deployment);
    const active = this.api.activePods();
    if (!limits.isRolling) return;
    if (method === 'POST' && active.length > Math.max(limits.desired + limits.surge, this.size)) this.violated(`${active.length} pods`);
    if (method !== 'DELETE' || this.isRescaled) return;
    const available = now.filter((pod) => this.isAvailable(pod)).length;
    const was = before.filter((pod) => this.isAvailable(pod)).length;
    if (available < was && available < limits.desired - limits.unavailable) this.violated(`${available} available`);
  }
  private violated(what: string): void {
    this.violations.push(`step ${this.log.length}: ${what} of ${JSON.stringify(limitsOf(this.deployment))}`);
  }
  /** No set begins while pods of another one run. While the deployment is paused it is only scaled. */
  private checkRecreate(): void {
    const sizes = new Map<string, number>(this.api.all(setKind).map(({ metadata, spec }) => [metadata.uid, spec.replicas]));
    const before = this.sizes;
    this.sizes = sizes;
    if (this.isActing || this.deployment.spec.paused || limitsOf(this.deployment).isRolling) return;
    const running = this.api.all(pods).filter(({ status }) => !['Failed', 'Succeeded'].includes(status?.phase));
    for (const [uid, size] of sizes) {
      if (size === 0 || (before.get(uid) ?? 0) > 0) continue;
      if (running.some((pod) => controllerOf(pod)?.uid !== uid)) this.violated('old pods run');
    }
  }

  /** Everything becomes ready: the deployment is as its spec asks, and nothing is left over. */
  private async end(): Promise<void> {
    const { api } = this;
    this.isRescaled = true;
    this.isFailing = false;
    this.edit((spec) => (spec.paused = false));
    const state = (): string => jsonText([api.all(pods), api.all(setKind)]);
    for (let i = 0, before = ''; i < 60 && before !== state(); i++) {
      await this.quiet();
      before = state();
      api.runAll();
      await api.end();
      await this.run.pass(10_000);
    }
    const { spec, status, metadata } = this.deployment;
    const message = `seed ${testSeed}, steps ${this.log.join(' ')}`;
    expect(this.violations, message).toEqual([]);
    const versions = api.activePods().map((pod) => pod.spec.containers[0].image);
    expect(versions, message).toEqual(Array.from({ length: spec.replicas }, () => spec.template.spec.containers[0].image));
    const { replicas = 0, updatedReplicas = 0, availableReplicas = 0, observedGeneration } = status;
    expect([replicas, updatedReplicas, availableReplicas, observedGeneration], message).toEqual([
      spec.replicas,
      spec.replicas,
      spec.replicas,
      metadata.generation,
    ]);
    expect(api.all(setKind).length, message).toBeLessThanOrEqual(spec.revisionHistoryLimit + 1);
  }
}

test('limits hold at every request, and every rollout ends as the spec asks', async () => {
  for (let i = 0; i < RUNS; i++) await new RandomRollouts(testSeed + i).play();
});
