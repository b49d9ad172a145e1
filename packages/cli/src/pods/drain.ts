/** `plat drain`: marks nodes as unschedulable and removes their pods. */
import { bool, duration, FlagError, type FlagValues, int, text } from '@plat-dev/lib/flags';
import { formatDuration } from '@plat-dev/lib/time';
import { ApiError } from '@plat-dev/meta/errors';
import { parseLabelSelector } from '@plat-dev/meta/labels';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { Deadline } from '../objects/follow-object.ts';
import { dryRunFlag, selectFlags } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { Results } from '../output/results.ts';
import { errorLine, isStock, noteLine } from '../program.ts';
import { type Work, withServer } from '../work.ts';
import { checkNodes, cordonNodes, type FoundNode, findNodes } from './cordon.ts';
import { controllerOf, type DrainedPod, type DrainPlan, isLongDeleted, planDrain } from './drain-pods.ts';

const emptyDir = 'Remove pods with emptyDir volumes, whose data is lost.';
const table = {
  Nodes: {
    selector: selectFlags.selector,
    'pod-selector': text('', 'Remove only the pods that match this label selector.', { value: 'QUERY' }),
    'chunk-size': int(500, 'Objects to list in one request; 0 lists all at once.'),
  },
  Draining: {
    force: bool(false, 'Remove pods without a controller, too; nothing creates them again.'),
    'ignore-daemonsets': bool(false, 'Leave pods of daemon sets where they are.'),
    'delete-emptydir-data': bool(false, emptyDir),
    'delete-local-data': bool(false, 'Use --delete-emptydir-data instead.', { stage: 'deprecated' }),
    'grace-period': int(-1, 'Seconds that pods get to terminate; -1 uses the value of each pod.', { min: Number.MIN_SAFE_INTEGER }),
    timeout: duration('0s', 'Longest time for each node; 0 is unlimited.', { defaultText: '0s' }),
    'disable-eviction': bool(false, 'Delete pods instead of evicting them: disruption budgets are not respected.'),
    'skip-wait-for-delete-timeout': int(0, 'Do not wait for pods that were deleted more than this many seconds ago; 0 waits for all.'),
    'dry-run': dryRunFlag,
  },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

/** Pause after an eviction that a disruption budget does not allow yet. */
const RETRY_MS = 5000;
/** How often it looks whether removed pods are gone. */
const POLL_MS = 1000;
/** Pods that are removed at the same time. */
const MAX_AT_ONCE = 256;

export const drain = command({
  usage: 'NODE… | -l QUERY [flags]',
  summary: 'Drain nodes for maintenance: mark them as unschedulable and evict their pods.',
  flags: table,
  more: `
Pods are evicted, so disruption budgets hold: an eviction that a budget does not allow yet is retried every 5 seconds. Pods
without a controller, with emptyDir volumes or of daemon sets stop the command unless a flag allows them.
\`plat uncordon\` makes the node schedulable again.

Examples:
  plat drain node1 --ignore-daemonsets
  plat drain node1 --force --delete-emptydir-data --grace-period=60
  plat drain -l zone=east --ignore-daemonsets --timeout=5m

Exit codes:
  0     all nodes are drained
  1     some are not
  2     the command line is wrong
  130   interrupted; the nodes stay unschedulable
`,
  async run({ options, givenFlags, args, warnings }, io) {
    for (const line of warnings) io.err(`Warning: ${line}\n`);
    checkNodes('drain', args, options.selector, givenFlags.has('selector'), io);
    try {
      parseLabelSelector(options.podSelector);
    } catch {
      throw new FlagError('--pod-selector=<pod_selector> must be a valid label selector');
    }
    return withServer(options, io, (work) => new Drainer(work, options).run(args));
  },
});

class Drainer {
  private readonly work: Work;
  private readonly options: Options;
  private readonly results: Results;

  constructor(work: Work, options: Options) {
    this.work = work;
    this.options = options;
    this.results = new Results(work.io, { ...options, output: '', showManagedFields: false });
  }
  async run(args: readonly string[]): Promise<number> {
    const { io } = this.work;
    const nodes = await findNodes(this.work, args, this.options.selector, this.options.chunkSize);
    await cordonNodes(this.work, nodes, true, this.options, this.results);
    const failed: string[] = [];
    const errors: string[] = [];
    for (const { ref, node } of nodes) {
      try {
        await this.drainNode({ ref, node });
        this.results.done(ref, 'drained', node);
      } catch (error) {
        if (!(error instanceof DrainError) && !(error instanceof ApiError)) throw error;
        failed.push(ref.name);
        errors.push(error.message);
        const node = JSON.stringify(ref.name);
        if (isStock(io)) io.err(`error: unable to drain node ${node} due to error:${error.message}, continuing command...\n`);
        else io.err(errorLine(error, io, `cannot drain node ${node}`));
      }
    }
    if (failed.length > 0 && isStock(io)) {
      io.err(`There are pending nodes to be drained:\n${failed.map((name) => ` ${name}\n`).join('')}`);
      io.err(`error: ${errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`}\n`);
    }
    if (failed.length > 1 && !isStock(io)) io.err(noteLine(`not drained: ${failed.join(', ')}`, io));
    return Math.max(await this.results.end(), failed.length > 0 ? 1 : 0);
  }

  private async drainNode({ ref }: FoundNode): Promise<void> {
    const { io } = this.work;
    const { pods, warnings } = await this.plan(ref.name);
    if (warnings.length > 0) io.err(`WARNING: ${warnings.join('; ')}\n`);
    if (this.options.dryRun === 'client') {
      for (const { metadata } of pods) io.out(`evicting pod ${metadata.namespace}/${metadata.name} (dry run)\n`);
      return;
    }
    try {
      await this.removeAll(pods);
    } catch (error) {
      if (!(error instanceof DrainError)) throw error;
      await this.reportPending(ref.name, error);
      throw error;
    }
  }
  private async reportPending(node: string, error: Error): Promise<void> {
    const { io } = this.work;
    const pending = await this.plan(node).catch((other: Error) => void io.err(`cannot list the pods to delete: ${other.message}\n`));
    if (pending === undefined || pending.pods.length === 0) return;
    if (isStock(io)) {
      io.err(`There are pending pods in node ${JSON.stringify(node)} when an error occurred: ${error.message}\n`);
      io.err(pending.pods.map(({ metadata }) => `pod/${metadata.name}\n`).join(''));
    } else {
      const remainingPods = pending.pods.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
      io.err(noteLine(`pods that are still on node ${JSON.stringify(node)}: ${remainingPods.join(', ')}`, io));
    }
  }

  /** The pods to remove. Throws if some may not be. */
  private async plan(node: string): Promise<DrainPlan> {
    const pods = await this.podsOf(node);
    const problems = await this.daemonSetProblems(pods);
    const plan = planDrain(pods, {
      ...this.options,
      deleteEmptydirData: this.options.deleteEmptydirData || this.options.deleteLocalData,
      now: this.work.io.clock.now(),
      daemonSetProblem: ({ metadata }, name) => problems.get(`${metadata.namespace}/${name}`),
    });
    if (plan.errors.length > 0) throw new DrainError(plan.errors.length === 1 ? (plan.errors[0] as string) : `[${plan.errors.join(', ')}]`);
    return plan;
  }
  private async podsOf(node: string): Promise<DrainedPod[]> {
    const resource = await this.work.discovery.find('pods');
    const { podSelector: labelSelector, chunkSize } = this.options;
    const fieldSelector = `spec.nodeName=${node}`;
    const pods: DrainedPod[] = [];
    let next: string | undefined;
    do {
      const query = { fieldSelector, labelSelector, limit: chunkSize === 0 ? undefined : chunkSize, continue: next };
      const { object } = await this.work.sendTo<{ metadata?: { continue?: string }; items?: DrainedPod[] }>(resource, undefined, {
        method: 'GET',
        query,
      });
      pods.push(...(object.items ?? []));
      next = object.metadata?.continue;
    } while (next !== undefined && next !== '');
    return pods;
  }
  /** Daemon sets of the pods that cannot be read, by `namespace/name`. */
  private async daemonSetProblems(pods: readonly DrainedPod[]): Promise<Map<string, { isGone: boolean; message: string }>> {
    const owners = new Map<string, { namespace: string; name: string }>();
    for (const pod of pods) {
      const owner = controllerOf(pod);
      const { namespace } = pod.metadata;
      if (owner?.kind === 'DaemonSet') owners.set(`${namespace}/${owner.name}`, { namespace, name: owner.name });
    }
    const problems = new Map<string, { isGone: boolean; message: string }>();
    if (owners.size === 0) return problems;
    const resource = await this.work.discovery.find('daemonsets.apps');
    for (const [key, { namespace, name }] of owners) {
      try {
        await this.work.get({ resource, namespace, name });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        problems.set(key, { isGone: error.code === 404, message: error.message });
      }
    }
    return problems;
  }

  private async removeAll(pods: readonly DrainedPod[]): Promise<void> {
    if (pods.length === 0) return;
    const resource = await this.work.discovery.find('pods');
    const eviction = this.options.disableEviction ? undefined : await evictionVersion(this.work);
    const deadline = new Deadline(this.options.timeout, this.work.io.clock);
    const errors: string[] = [];
    const queue = [...pods];
    const worker = async (): Promise<void> => {
      for (let pod = queue.shift(); pod !== undefined; pod = queue.shift()) {
        const ref = { resource, namespace: pod.metadata.namespace, name: pod.metadata.name };
        try {
          await this.remove(ref, pod, eviction, deadline);
        } catch (error) {
          if (!(error instanceof DrainError)) throw error;
          errors.push(error.message);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(MAX_AT_ONCE, pods.length) }, worker));
    if (errors.length > 0) throw new DrainError(errors.length === 1 ? (errors[0] as string) : `[${errors.join(', ')}]`);
  }
  private async remove(ref: ObjectRef, pod: DrainedPod, eviction: string | undefined, deadline: Deadline): Promise<void> {
    const isThere = eviction === undefined ? await this.delete(ref) : await this.evict(ref, eviction, deadline);
    if (!isThere || this.options.dryRun === 'server') return;
    await this.waitUntilGone(ref, pod, eviction === undefined ? 'deleted' : 'evicted', deadline);
  }

  /** Retries until the budgets allow it. Returns whether there was a pod to evict. */
  private async evict(ref: ObjectRef, apiVersion: string, deadline: Deadline): Promise<boolean> {
    const { io } = this.work;
    const about = `pods/${JSON.stringify(ref.name)} -n ${JSON.stringify(ref.namespace)}`;
    const body = {
      apiVersion,
      kind: 'Eviction',
      metadata: { name: ref.name, namespace: ref.namespace },
      deleteOptions: this.deleteOptions(),
    };
    for (;;) {
      io.out(`evicting pod ${ref.namespace}/${ref.name}${this.options.dryRun === 'server' ? ' (server dry run)' : ''}\n`);
      if (deadline.passed) throw new DrainError(`error when evicting ${about}: ${this.timedOut()}`);
      try {
        await this.work.send(ref, { method: 'POST', subresource: 'eviction', body });
        return true;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (error.code === 404) return false;
        const isTerminating = error.code === 403 && error.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating');
        if (isTerminating && (await this.isDeleted(ref))) return true;
        if (error.code !== 429 && !isTerminating) throw new DrainError(`error when evicting ${about}: ${error.message}`);
        if (isStock(io)) io.err(`error when evicting ${about} (will retry after 5s): ${error.message}\n`);
        else io.err(noteLine(`cannot evict pod ${ref.namespace}/${ref.name} yet, retrying in 5s: ${error.message}`, io));
      }
      await this.pause(RETRY_MS, deadline);
    }
  }
  private async isDeleted(ref: ObjectRef): Promise<boolean> {
    const pod = await this.work.get<DrainedPod>(ref).catch(() => undefined);
    return pod?.metadata.deletionTimestamp !== undefined;
  }
  private async delete(ref: ObjectRef): Promise<boolean> {
    try {
      await this.work.send(ref, { method: 'DELETE', body: { apiVersion: 'v1', kind: 'DeleteOptions', ...this.deleteOptions() } });
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 404) return true;
      throw new DrainError(error.message);
    }
  }
  private deleteOptions(): object {
    const { gracePeriod, dryRun } = this.options;
    return { ...(gracePeriod >= 0 && { gracePeriodSeconds: gracePeriod }), ...(dryRun === 'server' && { dryRun: ['All'] }) };
  }

  private async waitUntilGone(ref: ObjectRef, pod: DrainedPod, verb: string, deadline: Deadline): Promise<void> {
    for (;;) {
      const now = await this.work.get<DrainedPod>(ref).catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 404) return undefined;
        throw error instanceof ApiError
          ? new DrainError(`error when waiting for pod ${JSON.stringify(ref.name)} terminating: ${error.message}`)
          : error;
      });
      if (now === undefined || now.metadata.uid !== pod.metadata.uid) return this.results.done(ref, verb, pod);
      const { skipWaitForDeleteTimeout } = this.options;
      if (isLongDeleted(now, { skipWaitForDeleteTimeout, now: this.work.io.clock.now() })) {
        this.work.io.out(
          `pod ${JSON.stringify(ref.name)} has DeletionTimestamp older than ${skipWaitForDeleteTimeout} seconds, skipping\n`,
        );
        return;
      }
      if (deadline.passed) throw new DrainError(`error when waiting for pod ${JSON.stringify(ref.name)} terminating: ${this.timedOut()}`);
      await this.pause(POLL_MS, deadline);
    }
  }
  private timedOut(): string {
    return `global timeout reached: ${formatDuration(BigInt(this.options.timeout) * 1_000_000n)}`;
  }
  /** Ends early at the deadline. */
  private async pause(millis: number, deadline: Deadline): Promise<void> {
    const { signal } = this.work;
    const until = deadline.signal === undefined ? signal : AbortSignal.any([signal, deadline.signal]);
    await this.work.io.clock.sleep(millis, until).catch((error) => {
      if (signal.aborted) throw error;
    });
  }
}

/** A failure that concerns one node; the others go on. */
class DrainError extends Error {}

/** The version of evictions that the server takes; undefined if it takes none. */
async function evictionVersion(work: Work): Promise<string | undefined> {
  const { resources = [] } = await work.session.transport.json<{
    resources?: { name: string; kind: string; group?: string; version?: string }[];
  }>({ path: '/api/v1', signal: work.signal, ...work.session.timeout });
  const evictionResource = resources.find(({ name, kind }) => name === 'pods/eviction' && kind === 'Eviction');
  return evictionResource?.group && evictionResource.version ? `${evictionResource.group}/${evictionResource.version}` : undefined;
}
