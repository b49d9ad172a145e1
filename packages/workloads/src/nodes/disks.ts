/**
 * The files of simulated containers as exec, probes and proxied requests see them: what images and volumes begin with, what the
 * commands of the containers have done until now, and what was written since.
 *
 *   kubectl exec web-0 -- touch /data/ready      kept with the claim: the next web-0 has the file, too
 *   kubectl exec web-0 -- touch /tmp/ready       kept with the container
 */
import type { Work } from '@plat-dev/lib/slices';
import { timeMillis } from '@plat-dev/meta/time';
import type { WorkloadPod } from '../shared/pods.ts';
import { argvOf, type Container, commandOf } from './container-command.ts';
import type { ContainerFiles } from './container-files.ts';
import { mountedFiles, type Sources, variablesOf } from './container-view.ts';
import { isFromObjects, knowledgeOf } from './file-knowledge.ts';
import { imageFiles } from './images.ts';
import { hostnameOf } from './network-files.ts';
import { Files, type KeptFiles, type Layer, layerOf, newKeptFiles, PATH_LIMIT, withoutEnd } from './shell/files.ts';
import { type Replayed, replay } from './shell/replay.ts';
import type { Environment } from './shell/run.ts';
import { OUTCOME_WORK } from './shell/work.ts';

export interface DiskWorld {
  readonly disks: ContainerFiles;
  readonly sources: Sources;
  readonly now: () => number;
  readonly random: () => number;
  /** Called before a file is changed that is kept. */
  readonly wrote?: () => void;
  /** How far the commands of the pod are followed altogether. */
  readonly work?: number;
}

/** Init containers whose commands are followed: the last ones. */
const INIT_LIMIT = 20;

/** What a command that runs in a container now sees. */
export function* environmentNow(pod: WorkloadPod, container: Container, world: DiskWorld): Work<Environment> {
  return (yield* viewNow(pod, container, world)).environment;
}

export interface View {
  readonly environment: Environment;
  /** Whether the command of the container is simulated, as far as it has come. */
  readonly simulated: boolean;
  /** Whether those of init containers are that share volumes with it. */
  readonly initSimulated: boolean;
  /** When the command of the container changes a file next, in milliseconds since 1970. */
  readonly nextChange: (() => Work<number | undefined>) | undefined;
}
export function* viewNow(pod: WorkloadPod, container: Container, world: DiskWorld): Work<View> {
  const { files, simulated, initSimulated, startedAt, nextChangeMs } = yield* baseNow(pod, container, world);
  return {
    environment: environment(pod, container, world, new Files(files, layersOf(pod, container, world))),
    simulated,
    initSimulated,
    nextChange:
      nextChangeMs &&
      function* () {
        const after = yield* nextChangeMs();
        return after === undefined ? undefined : startedAt + after;
      },
  };
}
/** What the command of the container itself sees when it starts. `volumes`: what the commands of the pod have written to them. */
export function environmentAtStart(
  pod: WorkloadPod,
  container: Container,
  world: Pick<DiskWorld, 'sources' | 'now' | 'random'>,
  volumes: Map<string, KeptFiles> = new Map(),
): Environment {
  const shared = volumesOf(pod, container).map(({ id, path, within }) => {
    const keptFiles = volumes.get(id) ?? newKeptFiles();
    volumes.set(id, keptFiles);
    return { ...layerOf(keptFiles, path), within };
  });
  const base = new Map([...imageFiles(container.image ?? ''), ...mountedFiles(pod, container, world.sources)]);
  const files = new Files(base, [layerOf(newKeptFiles()), ...shared], knowledgeOf(pod, container));
  return environment(pod, container, world, files);
}
function environment(
  pod: WorkloadPod,
  container: Container,
  { sources, now, random }: Pick<DiskWorld, 'sources' | 'now' | 'random'>,
  files: Files,
): Environment {
  files.directory = files.absolute(container.workingDir ?? '/');
  return { variables: variablesOf(pod, container, sources), files, hostname: hostnameOf(pod), now, random };
}

/** Files as the commands of the init containers and of the container itself have left them. */
function* baseNow(
  pod: WorkloadPod,
  container: Container,
  world: DiskWorld,
): Work<Replayed & Pick<View, 'initSimulated'> & { readonly startedAt: number }> {
  const { volumes, initSimulated, work } = yield* afterInit(pod, container, world);
  const startedAt = pod.status?.containerStatuses?.find(({ name }) => name === container.name)?.state?.running?.startedAt;
  const began = startedAt == null ? world.now() : timeMillis(startedAt);
  const own = yield* replayed(pod, container, world, volumes, world.now() - began, work);
  return { ...own, initSimulated, startedAt: began };
}

export interface AfterInit {
  /** What init containers wrote to volumes. */
  readonly volumes: Map<string, KeptFiles>;
  readonly initSimulated: boolean;
  /** How far the command of the container itself may be followed. */
  readonly work: number;
}
/** The volumes of a pod when a container starts. */
export function* afterInit(pod: WorkloadPod, container: Container, world: DiskWorld): Work<AfterInit> {
  const volumes = new Map<string, KeptFiles>();
  const init = pod.spec?.initContainers ?? [];
  const ownIndex = init.findIndex(({ name }) => name === container.name);
  const earlierInits = ownIndex < 0 ? init : init.slice(0, ownIndex);
  let initSimulated = true;
  const followed = new Set(earlierInits.filter((one) => argvOf(one).length > 0).slice(-INIT_LIMIT));
  const work = (world.work ?? OUTCOME_WORK) / (followed.size + 1);
  for (const one of earlierInits) {
    const isKnown = followed.has(one) && (yield* replayed(pod, one, world, volumes, Number.POSITIVE_INFINITY, work)).simulated;
    if (!isKnown && sharesVolume(pod, one, container)) initSimulated = false;
  }
  return { volumes, initSimulated, work };
}

/** The files of a container whose command has run for so long. */
function* replayed(
  pod: WorkloadPod,
  container: Container,
  world: DiskWorld,
  volumes: Map<string, KeptFiles>,
  ranMs: number,
  work: number,
): Work<Replayed> {
  const atStart = environmentAtStart(pod, container, world, volumes);
  return yield* replay(commandOf(container, atStart.variables), atStart, ranMs, work);
}

function layersOf(pod: WorkloadPod, container: Container, { disks, wrote }: DiskWorld): Layer[] {
  const layer = (id: string, path: string, within: string): Layer => ({
    path,
    within,
    keptFiles: () => disks.get(id),
    keep: () => {
      wrote?.();
      const keptFiles = disks.use(id) ?? newKeptFiles();
      disks.set(id, keptFiles);
      return keptFiles;
    },
  });
  return [
    layer(`${pod.metadata.uid}/${container.name}`, '', ''),
    ...volumesOf(pod, container).map(({ id, path, within }) => layer(id, path, within)),
  ];
}

/** Mounts of a container that are looked at; what is written to further ones is kept with the container. */
const MOUNTS_LIMIT = 32;

/** Volumes of a container that can be written to. Those made of objects of the API are read only. */
function volumesOf(pod: WorkloadPod, container: Container): { readonly id: string; readonly path: string; readonly within: string }[] {
  return (container.volumeMounts ?? []).slice(0, MOUNTS_LIMIT).flatMap(({ name, mountPath, subPath }) => {
    const volume = pod.spec?.volumes?.find((one) => one.name === name);
    if (volume === undefined || isFromObjects(volume) || mountPath.length > PATH_LIMIT) return [];
    const path = withoutEnd(mountPath, '/');
    return path === ''
      ? []
      : [{ id: volumeId(pod, volume), path, within: subPath ? `/${withoutEnd(subPath, '/').replace(/^\/+/, '')}` : '' }];
  });
}

/** Whether two containers can write to the same volume. */
export function sharesVolume(pod: WorkloadPod, one: Container, other: Container): boolean {
  const ids = new Set(volumesOf(pod, one).map(({ id }) => id));
  return ids.size > 0 && volumesOf(pod, other).some(({ id }) => ids.has(id));
}

type Volume = NonNullable<NonNullable<WorkloadPod['spec']>['volumes']>[number];

function volumeId({ metadata, spec }: WorkloadPod, { name, persistentVolumeClaim, ephemeral, hostPath }: Volume): string {
  const claim = persistentVolumeClaim?.claimName ?? (ephemeral == null ? undefined : `${metadata.name}-${name}`);
  if (claim !== undefined) return claimDisk(metadata.namespace ?? '', claim);
  return hostPath == null ? `${metadata.uid}/volume/${name}` : `node/${spec?.nodeName}/${hostPath.path}`;
}
/** What is forgotten with a pod. */
export const disksOf = ({ metadata, spec }: WorkloadPod): string[] =>
  [...(spec?.containers ?? []), ...(spec?.initContainers ?? []), ...(spec?.ephemeralContainers ?? [])]
    .map(({ name }) => `${metadata.uid}/${name}`)
    .concat((spec?.volumes ?? []).map(({ name }) => `${metadata.uid}/volume/${name}`));
export const claimDisk = (namespace: string, claim: string): string => `claim/${namespace}/${claim}`;
