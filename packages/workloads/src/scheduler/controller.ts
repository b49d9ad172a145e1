/** The scheduler as a controller: its informers, and the queue that drives its decisions. */
import { splitKey } from '@plat-dev/client/informer';
import { builtin, type Controller, type ControllerContext, refs } from '@plat-dev/controllers/runtime/controller';
import { soonOrInSlices } from '@plat-dev/lib/slices';
import { isPending } from '@plat-dev/lib/when-ready';
import { domainName } from '@plat-dev/meta/identity';
import { EventRecorder } from '../shared/events.ts';
import { workloadPods } from '../shared/pods.ts';
import { workloadRefs } from '../shared/refs.ts';
import { Cluster } from './cluster.ts';
import { Decider } from './decide.ts';
import { SentEffects } from './effects.ts';
import type { Budget } from './preemption.ts';
import type { WireNode } from './read-node.ts';
import { Scheduler } from './scheduler.ts';
import { OwnSelectors, type PodSet, type Replication, type ServiceObject } from './spread-defaults.ts';
import {
  type Capacity,
  type Claim,
  claimKey,
  type Driver,
  type DriverNode,
  type StorageClass,
  type Volume,
  VolumeObjects,
} from './volumes/objects.ts';
import { WaitingPods } from './waiting-pods.ts';

export interface SchedulerSettings {
  /** The value of `schedulerName` of the pods to schedule. Absent: the default one alone. */
  readonly names?: readonly string[];
}

/** The name that pods have unless they name another. */
const DEFAULT_SCHEDULER = 'default-scheduler';

/** Decisions in one turn of the event loop, and the time after which the turn ends earlier: others wait meanwhile. */
const BATCH = 32;
const TURN_MS = 5;
const CYCLE = 'next';

export function schedulerController({ names = [DEFAULT_SCHEDULER] }: SchedulerSettings = {}): Controller {
  return { name: 'scheduler', user: 'scheduler', start: (context) => start(context, names) };
}

function start(context: ControllerContext, names: readonly string[]): void {
  const { client, clock, identity, random } = context;
  const stores = informersOf(context);
  const { driverInfos: _infos, capacities: _capacities, ...needed } = stores;
  const synced = Object.values(needed).map((informer) => informer.synced);
  const unschedulableTaint = domainName(identity, 'unschedulable', 'node');
  const cluster = new Cluster({
    hostname: domainName(identity, 'hostname'),
    zone: domainName(identity, 'zone', 'topology'),
    region: domainName(identity, 'region', 'topology'),
  });
  const objects = new VolumeObjects(identity, stores);
  const defaults = new OwnSelectors(stores);
  const decider = new Decider({ cluster, defaults, unschedulableTaint, random, objects });
  const ready = (): void => cycle.add(CYCLE);
  const waiting = new WaitingPods({ clock, ready });
  const effects = new SentEffects({
    client,
    clock,
    recorder: new EventRecorder({ client, clock, component: names[0] ?? DEFAULT_SCHEDULER }),
    volumes: { client, clock, objects, claims: stores.claims, volumes: stores.volumes },
    queue: (name, workers, work) => context.queue(work, { name: `scheduler_${name}`, workers, after: synced }),
    ready,
  });
  const budgets = (): Iterable<Budget> => stores.budgets.list();
  const scheduler = new Scheduler({ cluster, decider, waiting, random, effects, names: new Set(names), budgets, unschedulableTaint });
  effects.serve(scheduler);
  const cycle = context.queue(
    async () => {
      const until = clock.monotonic() + TURN_MS;
      for (let i = 0; i < BATCH && clock.monotonic() <= until; i++) {
        if (effects.isFull) return;
        const preparing = soonOrInSlices(scheduler.prepare());
        if (isPending(preparing)) await preparing;
        if (!scheduler.next()) return;
      }
      ready();
    },
    { workers: 1, after: synced },
  );
  follow(stores, { scheduler, effects, defaults });
  context.onStop(() => waiting.stop());
}

type Stores = ReturnType<typeof informersOf>;

function informersOf({ informers, identity }: ControllerContext) {
  const { replicaSets, replicationControllers, statefulSets, budgets, storageClasses, csiNodes } = workloadRefs(identity);
  return {
    nodes: informers.of<WireNode>(refs.nodes),
    pods: workloadPods(informers),
    namespaces: informers.of(refs.namespaces),
    services: informers.of<ServiceObject>(refs.services),
    replications: informers.of<Replication>(replicationControllers),
    replicaSets: informers.of<PodSet>(replicaSets),
    statefulSets: informers.of<PodSet>(statefulSets),
    budgets: informers.of<Budget>(budgets),
    claims: informers.of<Claim>(refs.persistentVolumeClaims),
    volumes: informers.of<Volume>(refs.persistentVolumes),
    classes: informers.of<StorageClass>(storageClasses),
    drivers: informers.of<DriverNode>(csiNodes),
    // Older releases of the API lack these: decisions do not wait for them.
    driverInfos: informers.of<Driver>(builtin(identity, 'storage', 'v1', 'csidrivers', false)),
    capacities: informers.of<Capacity>(builtin(identity, 'storage', 'v1', 'csistoragecapacities')),
  };
}

interface Followers {
  readonly scheduler: Scheduler;
  readonly effects: SentEffects;
  readonly defaults: OwnSelectors;
}

function follow(stores: Stores, { scheduler, effects, defaults }: Followers): void {
  stores.nodes.onChange(({ type, object }) => {
    if (type === 'deleted') scheduler.nodeGone(object.metadata.name ?? '');
    else scheduler.nodeChanged(object);
  });
  stores.namespaces.onChange(({ type, object }) => {
    const { name = '', labels = {} } = object.metadata;
    scheduler.namespaceChanged(name, type === 'deleted' ? undefined : labels);
    if (type === 'deleted') defaults.forget(name);
  });
  stores.pods.onChange(({ type, object }) => {
    const { namespace, name } = object.metadata;
    if (type === 'deleted') scheduler.podGone(`${namespace ?? ''}/${name ?? ''}`);
    else scheduler.podChanged(object);
  });
  stores.claims.onChange(({ object }) => {
    const key = claimKey(object);
    scheduler.volumesChanged(splitKey(key));
    effects.claimChanged(key);
  });
  const changed = (): void => scheduler.volumesChanged();
  stores.volumes.onChange(changed);
  stores.classes.onChange(changed);
  stores.drivers.onChange(changed);
  stores.driverInfos.onChange(changed);
  stores.capacities.onChange(changed);
}
