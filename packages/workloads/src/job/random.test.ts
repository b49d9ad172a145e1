/** Whatever happens to the pods of a job in whatever order: limits hold at every request, each pod counts once, and the job ends. */

import { FakeApi, fakeKinds, type Loose, runControllers, type TestRun } from '@plat-dev/controllers/testing';
import { jsonText } from '@plat-dev/lib/json-text';
import { seededRandom } from '@plat-dev/lib/random';
import { testSeed } from '@plat-dev/lib/testing/seed.testing';
import { kubernetes } from '@plat-dev/meta/identity';
import { formatTime } from '@plat-dev/meta/time';
import { expect, test } from 'vitest';
import { isActive } from '../shared/pod-state.ts';
import { jobController } from './controller.ts';
import { jobNames } from './job.ts';

const jobKind = { group: 'batch', version: 'v1', name: 'jobs', kind: 'Job', namespaced: true };
const eventKind = { group: '', version: 'v1', name: 'events', kind: 'Event', namespaced: true };
const names = jobNames(kubernetes);
const RUNS = 16;
const STEPS = 25;

class RandomJob {
  private readonly api = new FakeApi([jobKind, eventKind, fakeKinds.pods]);
  private readonly run: TestRun;
  private readonly random;
  private readonly violations: string[] = [];
  private readonly log: string[] = [];
  private readonly tracking: boolean;
  private readonly indexed: boolean;
  private readonly completions: number | undefined;
  /** Pods that have succeeded, by uid, with their index. */
  private readonly succeeded = new Map<string, string>();
  private refuses = false;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    this.tracking = this.random.below(4) > 0;
    this.indexed = this.random.below(2) === 0;
    this.completions = this.indexed || this.random.below(3) > 0 ? 1 + this.random.below(12) : undefined;
    this.api.before = (method, path) => {
      if (method === 'POST' && path.endsWith('/pods')) this.check();
      // Finalizers are removed by patches: what is refused between two steps must not count twice.
      const often = method === 'PATCH' ? 2 : 5;
      if (this.refuses && ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method) && this.random.below(often) === 0)
        FakeApi.refuse(500, 'InternalError', 'refused');
    };
    const labels = { 'controller-uid': 'u' };
    this.api.put(jobKind, {
      metadata: { name: 'j', namespace: 'a', uid: 'u', ...(this.tracking && { annotations: { [names.tracking]: '' } }) },
      spec: {
        parallelism: 1 + this.random.below(4),
        ...(this.completions !== undefined && { completions: this.completions }),
        completionMode: this.indexed ? 'Indexed' : 'NonIndexed',
        backoffLimit: 1000,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { restartPolicy: 'Never', containers: [{ name: 'c' }] } },
      },
      status: {},
    });
    this.run = runControllers(this.api, [jobController({ tracking: this.tracking, readyPods: true })]);
  }
  async play(): Promise<void> {
    await this.run.idle();
    for (let step = 0; step < STEPS && !this.isDone(); step++) {
      this.refuses = this.random.below(3) > 0;
      await this.act();
      await this.run.idle();
    }
    this.refuses = false;
    for (let i = 0; i < 40 && !this.isDone(); i++) {
      this.change({ suspend: false, parallelism: 2 });
      for (const pod of this.pods().filter(isActive)) this.end(pod, 'Succeeded');
      await this.run.pass(400_000);
    }
    await this.run.pass(400_000);
    this.checkEnd();
    await this.run.stop();
  }

  private job = (): Loose => this.api.get(jobKind, 'a', 'j');
  private pods = (): Loose[] => this.api.all(fakeKinds.pods);
  private isDone(): boolean {
    return (this.job().status.conditions ?? []).some(({ type }: Loose) => type === 'Complete' || type === 'Failed');
  }
  private change(spec: Loose): void {
    const job = this.job();
    this.log.push(jsonText(spec));
    this.api.put(jobKind, { ...job, spec: { ...job.spec, ...spec } });
  }
  private end(pod: Loose, phase: string): void {
    this.log.push(`${pod.metadata.name} ${phase}`);
    const terminated = { finishedAt: formatTime(this.run.clock.now()) };
    this.api.put(fakeKinds.pods, { ...pod, status: { phase, containerStatuses: [{ state: { terminated } }] } });
    if (phase === 'Succeeded') this.succeeded.set(pod.metadata.uid, pod.metadata.annotations?.[names.index] ?? '');
  }
  private async act(): Promise<void> {
    const active = this.pods().filter(isActive);
    const pod = active[this.random.below(Math.max(active.length, 1))];
    const action = this.random.below(8);
    if (action === 0) this.change({ parallelism: this.random.below(5) });
    else if (action === 1) this.change({ suspend: this.random.below(2) === 0 });
    else if (action === 2) await this.run.pass(this.random.below(60_000));
    else if (action === 3 && pod !== undefined) {
      this.log.push(`delete ${pod.metadata.name}`);
      this.refuses = false;
      await this.api.remove(fakeKinds.pods, 'a', pod.metadata.name);
    } else if (pod !== undefined) this.end(pod, ['Running', 'Succeeded', 'Failed'][this.random.below(3)] ?? '');
  }

  /** Before a pod is created: there is room for it. */
  private check(): void {
    const { spec, status } = this.job();
    const active = this.pods().filter(isActive);
    const say = (text: string): unknown => this.violations.push(`${text} after ${this.log.join(', ')}`);
    if (spec.suspend === true) say('created while suspended');
    if (active.length >= spec.parallelism) say(`created beside ${active.length} of ${spec.parallelism}`);
    if (this.completions !== undefined && !this.indexed && active.length + (status.succeeded ?? 0) >= this.completions)
      say('created beyond completions');
    const indexes = active.map(({ metadata }) => metadata.annotations?.[names.index]);
    if (this.indexed && new Set(indexes).size !== indexes.length) say(`indexes ${indexes}`);
  }
  private checkEnd(): void {
    const { status } = this.job();
    const history = this.log.join(', ');
    expect(this.violations).toEqual([]);
    expect(this.isDone(), history).toBe(true);
    expect(status.active, history).toBeUndefined();
    if (this.indexed) expect(status.succeeded, history).toBe(this.completions);
    else if (this.completions !== undefined) expect(status.succeeded, history).toBeGreaterThanOrEqual(this.completions);
    if (!this.tracking) return;
    // Each pod that succeeded counts once, whatever was deleted or refused meanwhile.
    const counted = this.indexed ? new Set(this.succeeded.values()).size : this.succeeded.size;
    expect(status.succeeded, history).toBe(counted);
    expect(status.uncountedTerminatedPods, history).toEqual({});
    expect(
      this.pods().flatMap(({ metadata }) => metadata.finalizers ?? []),
      history,
    ).toEqual([]);
  }
}

test(`random jobs, seed ${testSeed}`, async () => {
  for (let i = 0; i < RUNS; i++) await new RandomJob(testSeed + i).play();
});
