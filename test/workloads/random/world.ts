/** Random changes of workloads and nodes. */
import { jsonText } from '../../../packages/lib/src/json-text.ts';
import type { Random } from '../../../packages/lib/src/random.ts';
import type { TestServer } from '../../../packages/testing/src/test-server.ts';
import type { Loose } from './recorder.ts';

export const NAMESPACE = 'w';
const MERGE = { 'content-type': 'application/merge-patch+json' };
const note = (name: string): string => `simulation.kubernetes.io/${name}`;
const core = (plural: string): string => `/api/v1/namespaces/${NAMESPACE}/${plural}`;
const group =
  (name: string): ((plural: string) => string) =>
  (plural) =>
    `/apis/${name}/namespaces/${NAMESPACE}/${plural}`;
const apps = group('apps/v1');
const batch = group('batch/v1');

/** What a template may do. Those that never become ready get another one at the end. */
const lives: readonly Loose[] = [
  ...Array(6).fill({}),
  { [note('ready-after')]: '3s' },
  { [note('slow-pull')]: '4s' },
  { [note('stop-after')]: '5s' },
  { [note('never-ready')]: 'true' },
  { [note('crash-loop')]: 'true' },
];
/** The annotations with which a pod never becomes ready. */
const badNotes = ({ metadata }: Loose): string[] =>
  [note('never-ready'), note('crash-loop')].filter((key) => key in (metadata.annotations ?? {}));
const jobLives: readonly Loose[] = [
  ...[
    {},
    {},
    { [note('complete-after')]: '5s' },
    { [note('complete-after')]: '40s' },
    { [note('fail')]: 'true' },
    { [note('stop-after')]: '5s', [note('complete-after')]: '20s' },
  ],
];

/** Kinds with a size and a template, by the path of their collection. */
const sets = { deployments: apps, replicasets: apps, statefulsets: apps, daemonsets: apps, replicationcontrollers: core } as const;
type SetPlural = keyof typeof sets;
const MOST: Readonly<Record<string, number>> = {
  deployments: 4,
  replicasets: 2,
  statefulsets: 3,
  daemonsets: 2,
  replicationcontrollers: 1,
  jobs: 4,
  cronjobs: 2,
  poddisruptionbudgets: 3,
  horizontalpodautoscalers: 2,
  resourcequotas: 1,
};
const pathOf: Readonly<Record<string, (plural: string) => string>> = {
  ...{ ...sets, jobs: batch, cronjobs: batch, resourcequotas: core },
  ...{ poddisruptionbudgets: group('policy/v1'), horizontalpodautoscalers: group('autoscaling/v2') },
};

export class World {
  readonly steps: string[] = [];
  /** Names of objects that exist, by plural. */
  private readonly names = new Map<string, string[]>();
  private readonly nodes: readonly string[];
  private serial = 0;
  private readonly server: TestServer;
  private readonly random: Random;

  constructor(server: TestServer, random: Random, nodes: readonly string[]) {
    this.server = server;
    this.random = random;
    this.nodes = nodes;
  }

  /** Objects that most changes are about. */
  async begin(): Promise<void> {
    for (const plural of ['deployments', 'deployments', 'statefulsets', 'poddisruptionbudgets', 'poddisruptionbudgets'])
      await this.create(plural);
  }
  /** One change. */
  async act(): Promise<void> {
    const actions = [
      ...Array(4).fill(() => this.create()),
      ...Array(4).fill(() => this.change()),
      ...Array(2).fill(() => this.remove()),
      ...[
        () => this.rollOut(),
        () => this.rollOut(),
        () => this.changeJob(),
        () => this.removePod(),
        () => this.evictPods(),
        () => this.evictPods(),
        () => this.drain(),
        () => this.changeNode(),
        () => this.changeNode(),
      ],
    ];
    await (this.pick(actions) as () => Promise<void>)();
  }
  pass(): string {
    return this.pick(['0s', '50ms', '500ms', '2s', '7s', '20s', '1m', '3m']) as string;
  }

  private pick<T>(list: readonly T[]): T | undefined {
    return list.length === 0 ? undefined : list[this.random.below(list.length)];
  }
  private chance(of: number): boolean {
    return this.random.below(of) === 0;
  }
  /** Sends a request. A refusal of a change is part of the game, a failure of the server is not. */
  private async send(method: string, path: string, body?: unknown): Promise<Loose> {
    const headers = method === 'PATCH' ? { headers: MERGE } : {};
    const { status, body: answer, text } = await this.server.request(method, path, { ...(body !== undefined && { body }), ...headers });
    this.steps.push(`${method} ${path} ${body === undefined ? '' : jsonText(body)} → ${status}`);
    if (status >= 500 || status === 400 || (status === 422 && !text.includes('more than one PodDisruptionBudget')))
      throw new Error(`${method} ${path}: ${status} ${text}`);
    return status < 300 ? answer : undefined;
  }
  private async get(path: string): Promise<Loose> {
    return (await this.server.request('GET', path)).body;
  }
  private of(plural: string): string[] {
    const names = this.names.get(plural) ?? [];
    this.names.set(plural, names);
    return names;
  }
  private any(plurals: readonly string[]): { plural: string; name: string } | undefined {
    return this.pick(plurals.flatMap((plural) => this.of(plural).map((name) => ({ plural, name }))));
  }

  private template(name: string, more: Loose = {}): Loose {
    const annotations = this.pick(lives);
    const resources = { requests: { cpu: this.pick(['300m', '1', '2500m']) } };
    const containers = [{ name: 'main', image: `v${this.random.below(4)}`, resources, ...more }];
    return {
      metadata: { labels: { app: name }, annotations },
      spec: { containers, terminationGracePeriodSeconds: this.pick([0, 10, 30]) },
    };
  }
  private rolling(): Loose {
    if (this.chance(4)) return { type: 'Recreate', rollingUpdate: null };
    const [surge, unavailable] = [this.pick([0, 1, 2, '25%', '50%']), this.pick([0, 1, 2, '25%'])];
    const isStuck = (surge === 0 && unavailable === 0) || (surge === 0 && unavailable === '0%');
    return { type: 'RollingUpdate', rollingUpdate: { maxSurge: isStuck ? 1 : surge, maxUnavailable: unavailable } };
  }
  private daemonRolling(): Loose {
    if (this.chance(6)) return { type: 'OnDelete', rollingUpdate: null };
    const surge = this.chance(2) ? 0 : this.pick([1, 2, '50%']);
    return { type: 'RollingUpdate', rollingUpdate: { maxSurge: surge, maxUnavailable: surge === 0 ? this.pick([1, 2, '50%']) : 0 } };
  }
  private statefulRolling(): Loose {
    if (this.chance(6)) return { type: 'OnDelete', rollingUpdate: null };
    return { type: 'RollingUpdate', rollingUpdate: { partition: this.pick([0, 0, 0, 1, 2]) } };
  }
  private specOf(plural: SetPlural, name: string): Loose {
    const size = { replicas: this.random.below(5), minReadySeconds: this.pick([0, 0, 5]) };
    const selector = plural === 'replicationcontrollers' ? { app: name } : { matchLabels: { app: name } };
    if (plural === 'deployments') {
      const common = { ...size, selector, revisionHistoryLimit: this.random.below(3) };
      // Pods with a host port go before others come.
      if (!this.chance(4)) return { ...common, strategy: this.rolling(), template: this.template(name) };
      const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } };
      const ports = [{ containerPort: 80, hostPort: 10_000 + this.random.below(2) }];
      return { ...common, replicas: Math.min(size.replicas, 1), strategy, template: this.template(name, { ports }) };
    }
    if (plural === 'daemonsets') {
      const template = this.template(name);
      template.spec.nodeSelector = this.pick([undefined, { side: 'left' }]);
      return { selector, minReadySeconds: size.minReadySeconds, updateStrategy: this.daemonRolling(), template };
    }
    if (plural === 'statefulsets') {
      const resources = { requests: { storage: '1Gi' } };
      const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources } };
      const policy = this.pick(['OrderedReady', 'OrderedReady', 'Parallel']);
      const rest = { serviceName: name, podManagementPolicy: policy, updateStrategy: this.statefulRolling() };
      return { ...size, ...rest, selector, template: this.template(name), ...(this.chance(3) && { volumeClaimTemplates: [claim] }) };
    }
    return { ...size, selector, template: this.template(name) };
  }
  private jobSpec(): Loose {
    const [completions, completionMode] = this.pick([[1], [2], [4], [3, 'Indexed'], [5, 'Indexed']]) as [number, string?];
    const restartPolicy = this.pick(['Never', 'Never', 'OnFailure']);
    const containers = [{ name: 'main', image: 'job', resources: { requests: { cpu: '200m' } } }];
    const template = {
      metadata: { annotations: this.pick(jobLives) },
      spec: { restartPolicy, containers, terminationGracePeriodSeconds: 10 },
    };
    const limits = {
      backoffLimit: this.random.below(3),
      ...(this.chance(4) && { activeDeadlineSeconds: 60 }),
      ...(this.chance(4) && { ttlSecondsAfterFinished: 30 }),
    };
    return { parallelism: 1 + this.random.below(3), completions, ...(completionMode && { completionMode }), ...limits, template };
  }

  private async create(given?: string): Promise<void> {
    const plural = (given ??
      this.pick([
        'deployments',
        'deployments',
        'replicasets',
        'statefulsets',
        'daemonsets',
        'replicationcontrollers',
        'jobs',
        'jobs',
        'cronjobs',
        'poddisruptionbudgets',
        'poddisruptionbudgets',
        'horizontalpodautoscalers',
        'resourcequotas',
      ])) as string;
    const names = this.of(plural);
    if (names.length >= (MOST[plural] as number)) return;
    const name = `${plural.slice(0, 3)}${this.serial++}`;
    const spec = this.anySpec(plural, name);
    if (spec === undefined) return;
    if ((await this.send('POST', this.path(plural), { metadata: { name }, spec })) !== undefined) names.push(name);
  }
  private anySpec(plural: string, name: string): Loose {
    if (plural in sets) return this.specOf(plural as SetPlural, name);
    if (plural === 'jobs') return this.jobSpec();
    if (plural === 'resourcequotas') return { hard: { pods: String(6 + this.random.below(20)) } };
    if (plural === 'cronjobs') {
      const concurrencyPolicy = this.pick(['Allow', 'Forbid', 'Replace']);
      return {
        schedule: this.pick(['* * * * *', '*/2 * * * *']),
        concurrencyPolicy,
        successfulJobsHistoryLimit: 1,
        failedJobsHistoryLimit: 1,
        jobTemplate: { spec: this.jobSpec() },
      };
    }
    if (plural === 'poddisruptionbudgets') {
      const target = this.any(['deployments', 'statefulsets']);
      const selector = { matchLabels: { app: target?.name } };
      return (
        target && { selector, ...(this.chance(2) ? { minAvailable: this.random.below(4) } : { maxUnavailable: this.random.below(3) }) }
      );
    }
    const target = this.any(['deployments']);
    const metrics = [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: this.pick([5, 50, 90]) } } },
    ];
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: target?.name };
    return target && { scaleTargetRef, minReplicas: 1, maxReplicas: 1 + this.random.below(4), metrics };
  }
  private path(plural: string, name?: string): string {
    const path = (pathOf[plural] as (plural: string) => string)(plural);
    return name === undefined ? path : `${path}/${name}`;
  }

  private async hasPort(path: string): Promise<boolean> {
    return jsonText(await this.get(path)).includes('"hostPort"');
  }
  private async change(): Promise<void> {
    const target = this.any([...Object.keys(sets), 'deployments', 'cronjobs', 'resourcequotas']);
    if (target === undefined) return;
    const { plural, name } = target;
    const path = this.path(plural, name);
    const patch = (spec: Loose): Promise<Loose> => this.send('PATCH', path, { spec });
    if (plural === 'cronjobs') return patch({ suspend: this.chance(2) });
    if (plural === 'resourcequotas') return patch({ hard: { pods: String(6 + this.random.below(20)) } });
    const what = this.random.below(plural === 'deployments' ? 5 : 4);
    const hasPort = plural === 'deployments' && (await this.hasPort(path));
    if (what === 0 && plural !== 'daemonsets') return patch({ replicas: this.random.below(hasPort ? 2 : 6) });
    if (what === 1 && plural === 'deployments' && !hasPort) return patch({ strategy: this.rolling() });
    if (what === 1 && plural === 'statefulsets') return patch({ updateStrategy: this.statefulRolling() });
    if (what === 1 && plural === 'daemonsets') return patch({ updateStrategy: this.daemonRolling() });
    if (what === 4) return patch({ paused: this.chance(3) });
    const annotations = {
      ...Object.fromEntries(lives.flatMap((life) => Object.keys(life).map((key) => [key, null]))),
      ...this.pick(lives),
    };
    if (plural === 'replicasets' || plural === 'replicationcontrollers' || hasPort)
      return patch({ template: { metadata: { annotations } } });
    await patch({ template: { metadata: { annotations }, spec: this.template(name).spec } });
  }
  /** Another image for a deployment of several pods, and nothing else. */
  private async rollOut(): Promise<void> {
    const name = this.pick(this.of('deployments'));
    if (name === undefined) return;
    const { spec } = (await this.get(this.path('deployments', name))) ?? {};
    const [container] = spec?.template.spec.containers ?? [];
    if (container === undefined) return;
    const containers = [{ ...container, image: `v${this.random.below(9)}` }];
    await this.send('PATCH', this.path('deployments', name), { spec: { template: { spec: { containers } } } });
  }
  private async changeJob(): Promise<void> {
    const name = this.pick(this.of('jobs'));
    if (name === undefined) return;
    await this.send('PATCH', this.path('jobs', name), {
      spec: this.chance(2) ? { suspend: this.chance(2) } : { parallelism: this.random.below(4) },
    });
  }
  private async remove(): Promise<void> {
    const target = this.any(Object.keys(pathOf));
    if (target === undefined) return;
    const names = this.of(target.plural);
    names.splice(names.indexOf(target.name), 1);
    await this.delete(target);
  }
  private async delete({ plural, name }: { plural: string; name: string }): Promise<void> {
    const propagationPolicy = this.pick(['Background', 'Background', 'Foreground']);
    await this.send('DELETE', `${this.path(plural, name)}?propagationPolicy=${propagationPolicy}`);
  }

  private async pods(): Promise<Loose[]> {
    return (await this.get(core('pods'))).items;
  }
  private async removePod(): Promise<void> {
    const pod = this.pick(await this.pods());
    if (pod !== undefined)
      await this.send('DELETE', `${core('pods')}/${pod.metadata.name}${this.chance(4) ? '?gracePeriodSeconds=0' : ''}`);
  }
  private evict({ metadata }: Loose): Promise<Loose> {
    const { name } = metadata;
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } };
    return this.send('POST', `${core('pods')}/${name}/eviction`, eviction);
  }
  /** Applications that have a budget. */
  private async guarded(): Promise<string[]> {
    return (await this.get(this.path('poddisruptionbudgets'))).items.map(({ spec }: Loose) => spec.selector.matchLabels.app);
  }
  /** Several at once: budgets count each of them. */
  private async evictPods(): Promise<void> {
    const labels = (await this.pods()).map(({ metadata }) => metadata.labels?.app).filter((app) => app !== undefined);
    const guarded = await this.guarded();
    const app = this.pick(this.chance(4) || guarded.length === 0 ? labels : guarded);
    await Promise.all((await this.pods()).filter(({ metadata }) => metadata.labels?.app === app).map((pod) => this.evict(pod)));
  }
  private async drain(): Promise<void> {
    const node = this.pick(this.nodes) as string;
    await this.send('PATCH', `/api/v1/nodes/${node}`, { spec: { unschedulable: true } });
    const here = (await this.pods()).filter(
      ({ metadata, spec }) => spec.nodeName === node && metadata.ownerReferences?.[0].kind !== 'DaemonSet',
    );
    for (const pod of here) await this.evict(pod);
  }
  private async changeNode(): Promise<void> {
    const path = `/api/v1/nodes/${this.pick(this.nodes)}`;
    const what = this.random.below(5);
    if (what === 0) await this.send('PATCH', path, { spec: { unschedulable: this.chance(2) } });
    else if (what < 3) await this.send('PATCH', path, { metadata: { annotations: { [note('down')]: String(this.chance(2)) } } });
    else {
      const { spec } = await this.get(path);
      const others = (spec.taints ?? []).filter(({ key }: Loose) => key !== 'mine');
      const taints = this.chance(2) ? others : [...others, { key: 'mine', effect: this.pick(['NoSchedule', 'NoExecute']) }];
      await this.send('PATCH', path, { spec: { taints } });
    }
  }

  /** The last changes: every node is there and free, every template can become ready, and nothing makes further changes. */
  async calm(): Promise<void> {
    for (const plural of ['resourcequotas', 'horizontalpodautoscalers', 'cronjobs']) await this.removeAll(plural);
    for (const node of this.nodes) {
      const path = `/api/v1/nodes/${node}`;
      await this.send('PATCH', path, { metadata: { annotations: { [note('down')]: 'false' } }, spec: { unschedulable: null } });
      const { spec } = await this.get(path);
      await this.send('PATCH', path, { spec: { taints: (spec.taints ?? []).filter(({ key }: Loose) => key !== 'mine') } });
    }
    for (const plural of Object.keys(sets))
      for (const name of this.of(plural)) {
        const { spec, status } = await this.get(this.path(plural, name));
        const bad = badNotes(spec.template);
        const annotations = Object.fromEntries(bad.map((key) => [key, null]));
        if (bad.length > 0) await this.send('PATCH', this.path(plural, name), { spec: { template: { metadata: { annotations } } } });
        // Members below the partition are made from the earlier template, however bad it is.
        if (plural !== 'statefulsets' || !(spec.updateStrategy.rollingUpdate?.partition > 0)) continue;
        const { data } = await this.get(`${apps('controllerrevisions')}/${status.currentRevision}`);
        if (badNotes(data.spec.template).length > 0)
          await this.send('PATCH', this.path(plural, name), { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
      }
    for (const name of this.of('deployments')) {
      const path = this.path('deployments', name);
      // Every deployment may have the same port: there is a node for one pod of each.
      const isTooLarge = (await this.hasPort(path)) && (await this.get(path)).spec.replicas > 1;
      await this.send('PATCH', path, { spec: { paused: false, ...(isTooLarge && { replicas: 1 }) } });
    }
    await this.server.settled();
    // Pods of an earlier template are replaced by nobody else, or not while they are not ready.
    for (const pod of (await this.pods()).filter((one) => badNotes(one).length > 0))
      await this.send('DELETE', `${core('pods')}/${pod.metadata.name}`);
    for (const name of this.of('jobs')) await this.send('PATCH', this.path('jobs', name), { spec: { suspend: false, parallelism: 2 } });
  }
  async removeAll(plural: string): Promise<void> {
    for (const name of this.of(plural).splice(0)) await this.delete({ plural, name });
  }
  async clear(): Promise<void> {
    for (const plural of Object.keys(pathOf)) await this.removeAll(plural);
  }
}
