/** The probes of a container in the world of its pod: whether it has started, is alive and is ready, and when that is asked again. */
import { noWork, type Work } from '@plat-dev/lib/slices';
import { argvOf } from '../container-command.ts';
import { type ContainerStatus, type ContainerWorld, fieldPathOf } from './container-world.ts';
import { delayOf } from './lifecycle.ts';
import { canFail, changeOf, isRun, NEVER, newRecord, type Probe, type ProbeRecord, probed, probedAtOnce, type Verdict } from './probes.ts';
import { type Container, roleOf } from './process.ts';

export interface Probed {
  /** Undefined as long as the probe has not decided. */
  readonly result?: boolean | undefined;
  readonly due?: number | undefined;
}

interface Readiness {
  readonly ready: boolean;
  readonly due?: number | undefined;
}

/** Whether the container has started: at once without a startup probe, or where probes do not count. */
export function* startup(world: ContainerWorld, container: Container, status: ContainerStatus, startedAt: number): Work<Probed> {
  const { startupProbe } = container;
  if (!world.lifecycles.of(container.name).ready.probes || startupProbe == null || status.started === true) return { result: true };
  const outcome = yield* probeRun(world, container, status, 'startup', startupProbe, startedAt);
  return outcome.result === true ? { result: true } : outcome;
}
export function* liveness(world: ContainerWorld, container: Container, status: ContainerStatus, startedAt: number): Work<Probed> {
  const { pod, now } = world;
  const lifecycle = world.lifecycles.of(container.name);
  const { livenessProbe } = container;
  if (livenessProbe == null) return {};
  const { live } = lifecycle;
  const failsAt = live === undefined ? undefined : startedAt + delayOf(live, `${pod.metadata.uid}/${container.name}/live`);
  if (failsAt === undefined) {
    if (!lifecycle.ready.probes || !canFail(livenessProbe, container)) return {};
    return yield* probeRun(world, container, status, 'liveness', livenessProbe, startedAt);
  }
  if (now < failsAt) return { due: failsAt };
  return yield* probeRun({ ...world, probe: () => noWork(failed) }, container, status, 'liveness', livenessProbe, startedAt);
}

const failed: Verdict = { ok: false, sure: true, changesAt: undefined };
const titles = { startup: 'Startup', liveness: 'Liveness', readiness: 'Readiness' } as const;

/** Runs a probe if its time has come, and reports a failure. */
function* probeRun(
  world: ContainerWorld,
  container: Container,
  { restartCount }: ContainerStatus,
  kind: keyof typeof titles,
  probe: Probe,
  from: number,
): Work<Probed> {
  const { memory, now } = world;
  const run = `${container.name}/${kind}#${restartCount}`;
  const lastRecord = memory.probe(run) ?? newRecord(probe, from);
  const record = yield* probed(lastRecord, probe, now, function* () {
    return (yield* world.probe(container, probe)).ok;
  });
  memory.noteProbe(run, record);
  if (record !== lastRecord && !record.last) unhealthy(world, container, kind);
  return { result: record.result, due: record.due };
}

function unhealthy({ event, pod }: ContainerWorld, container: Container, kind: keyof typeof titles): void {
  const fieldPath = fieldPathOf(container, roleOf(pod, container));
  event({ type: 'Warning', reason: 'Unhealthy', message: `${titles[kind]} probe failed: `, fieldPath });
}

export function* readiness(world: ContainerWorld, container: Container, status: ContainerStatus, startedAt: number): Work<Readiness> {
  const { now, pod } = world;
  const { name, readinessProbe } = container;
  const lifecycle = world.lifecycles.of(name);
  if (lifecycle.ready.never) return { ready: false };
  const from = startedAt + delayOf(lifecycle.ready, `${pod.metadata.uid}/${name}/ready`);
  if (now < from) return { ready: false, due: from };
  if (lifecycle.ready.probes === false || readinessProbe == null) return { ready: true };
  if (lifecycle.ready.probes === undefined) return yield* readinessAtOnce(world, container, status, readinessProbe, from);
  const { result, due } = yield* probeRun(world, container, status, 'readiness', readinessProbe, from);
  return { ready: result ?? status.ready, due };
}

/** Readiness by default: found at once, and again when a client wrote in the pod or the command of the container changed a file. */
function* readinessAtOnce(
  world: ContainerWorld,
  container: Container,
  { ready, restartCount }: ContainerStatus,
  probe: Probe,
  from: number,
): Work<Readiness> {
  if (!isRun(probe, container)) return { ready: true };
  const { memory, now } = world;
  const run = `${container.name}/readiness#${restartCount}`;
  const storedRecord = memory.probe(run);
  const lastRecord: ProbeRecord = storedRecord ?? {
    // A container that is ready, of which nothing is remembered, stays ready as long as nothing changes.
    due: !ready ? from : argvOf(container).length > 0 ? yield* changeOf((yield* world.probe(container, probe)).changesAt) : NEVER,
    count: 0,
    last: ready,
    result: ready || undefined,
  };
  // A failure is counted once a period, however often a client writes.
  const isChanged = memory.writes !== (storedRecord?.writes ?? 0) && lastRecord.last;
  const record = yield* probedAtOnce(isChanged ? { ...lastRecord, due: now } : lastRecord, probe, now, () => world.probe(container, probe));
  memory.noteProbe(run, { ...record, writes: memory.writes });
  if (now >= (isChanged ? now : lastRecord.due) && !record.last) unhealthy(world, container, 'readiness');
  return { ready: record.result ?? false, due: record.due === NEVER ? undefined : record.due };
}
