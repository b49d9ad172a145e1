/**
 * Probes of the containers of a pod as they come out now, and how far that can be relied on. A failure is sure where everything is
 * known that the probe looked at:
 *
 *   image httpd, entrypoint                       test -f /data/go       fails for sure: all that httpd has is known
 *   command sh -c 'sleep 9; touch /tmp/ok; …'     cat /tmp/ok            fails for sure until 9 s after the start
 *   image example.com/app, entrypoint             cat /tmp/ok            fails, but the program may have made the file
 *   image example.com/app, entrypoint             false                  fails for sure
 */
import { noWork, type Work } from '@plat-dev/lib/slices';
import type { WorkloadPod } from '../shared/pods.ts';
import { argvOf, type Container } from './container-command.ts';
import type { ContainerFiles } from './container-files.ts';
import { noSources } from './container-view.ts';
import { sharesVolume, type View, viewNow } from './disks.ts';
import { hasToken, isFromObjects } from './file-knowledge.ts';
import { documentRootOf } from './images.ts';
import { fraction } from './lifecycle/lifecycle.ts';
import { isRun, type Probe, succeeds, type Verdict } from './lifecycle/probes.ts';
import { containersOf, workOf } from './lifecycle/process.ts';

const unknown: Verdict = { ok: true, sure: false, changesAt: undefined };

export function* verdictOf(pod: WorkloadPod, container: Container, probe: Probe, disks: ContainerFiles, now: number): Work<Verdict> {
  if (!isRun(probe, container) || readsObjects(pod, container, probe.exec?.command ?? [])) return unknown;
  let randomDraws = 0;
  let varies = false;
  const view = yield* viewNow(pod, container, {
    disks,
    sources: noSources,
    work: workOf(containersOf(pod)),
    now: () => {
      varies = true;
      return now;
    },
    random: () => {
      varies = true;
      return Math.floor(fraction(`${pod.metadata.uid}/${container.name}/${now}/${randomDraws++}`) * 32768);
    },
  });
  const { environment } = view;
  varies = false;
  const ok = yield* succeeds(probe, container, () => environment);
  const dependsOnTime = varies;
  const sure = (!environment.files.missed && !namesVariables(probe)) || isKnown(pod, container, view);
  return { ok, sure, changesAt: dependsOnTime ? () => noWork(now) : view.nextChange };
}

const namesVariables = ({ exec }: Probe): boolean => exec?.command?.some((word) => word.includes('$')) === true;

/** Whether nothing but what is simulated writes files where the container sees them, and its variables are known. */
function isKnown(pod: WorkloadPod, container: Container, { simulated, initSimulated }: View): boolean {
  const others = (pod.spec?.containers ?? []).filter(({ name }) => name !== container.name);
  const isOwnKnown = argvOf(container).length > 0 ? simulated : isImageAlone(pod, container);
  return (
    isOwnKnown &&
    initSimulated &&
    !readsObjects(pod, container, argvOf(container)) &&
    container.lifecycle?.postStart == null &&
    !others.some((other) => sharesVolume(pod, other, container)) &&
    (container.envFrom?.length ?? 0) === 0 &&
    !container.env?.some(({ valueFrom }) => valueFrom?.configMapKeyRef != null || valueFrom?.secretKeyRef != null)
  );
}

/** Whether a container runs a known image as it is, without configuration of its own. */
function isImageAlone({ spec }: WorkloadPod, { image, volumeMounts }: Container): boolean {
  if (documentRootOf(image ?? '') === undefined) return false;
  return !volumeMounts?.some(({ name }) => {
    const volume = spec?.volumes?.find((one) => one.name === name);
    return volume !== undefined && isFromObjects(volume) && !hasToken(volume);
  });
}

/** Whether a command in a container reads files of config maps and the like: they are not looked up for it. */
function readsObjects({ spec }: WorkloadPod, container: Container, command: readonly string[]): boolean {
  const text = command.join(' ');
  return (
    container.volumeMounts?.some(
      ({ name, mountPath }) => text.includes(mountPath) && spec?.volumes?.some((volume) => volume.name === name && isFromObjects(volume)),
    ) === true
  );
}
