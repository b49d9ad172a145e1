/**
 * A client that is attached to a container whose command reads its input: the command is run for the client, what it writes is kept
 * for the log, and the container exits with it.
 *
 *   kubectl run -it --rm shell --image=busybox -- sh       the pod is completed when the user leaves the shell
 */
import { isConflict, unlessGone } from '@plat-dev/client/http';
import { refs } from '@plat-dev/controllers/runtime/controller';
import { BoundedCache } from '@plat-dev/lib/bounded-cache';
import { textOf } from '@plat-dev/lib/byte-text';
import { commandStatus } from '@plat-dev/meta/errors';
import { formatTime } from '@plat-dev/meta/time';
import type { WorkloadPod } from '../../shared/pods.ts';
import { type Container, commandOf } from '../container-command.ts';
import { reasonOf } from '../lifecycle/lifecycle.ts';
import { DEFAULT_PATH, limitedMessage } from '../lifecycle/termination-message.ts';
import type { Environment } from '../shell/run.ts';
import type { AgentOptions } from './agent-options.ts';
import { runFor } from './command.ts';
import { findPod, statusOf } from './pod-lookup.ts';
import type { CommandStreams } from './streams.ts';

/** Runs of containers whose output is kept, and how much of each. */
const KEPT_OUTPUTS = 200;
const OUTPUT_LIMIT = 64 * 1024;
/** Between the end of a client's input and the end of its session, for what is still to be written. */
const LEAVE_MS = 50;
/** Writers of the status that may be faster. */
const ATTEMPTS = 5;

export class Sessions {
  private readonly options: AgentOptions;
  private readonly outputs = new BoundedCache<string, string>(KEPT_OUTPUTS);

  constructor(options: AgentOptions) {
    this.options = options;
  }
  /** What the command of a container wrote while a client was attached. */
  outputOf(pod: WorkloadPod, container: Container): string | undefined {
    return this.outputs.get(idOf(pod, container));
  }

  async attach(streams: CommandStreams, pod: WorkloadPod, container: Container, environment: Environment, tty: boolean): Promise<void> {
    const { clock } = this.options;
    const id = idOf(pod, container);
    const disconnected = new AbortController();
    const recorded: CommandStreams = {
      signal: AbortSignal.any([streams.signal, disconnected.signal]),
      onInput: (listener) =>
        streams.onInput((chunk) => {
          // The input of such a container stays open for the next client.
          if (chunk !== undefined || container.stdinOnce === true || tty) listener(chunk);
          else
            clock.after(LEAVE_MS, () => {
              if (!streams.signal.aborted) streams.finish(commandStatus(0));
              disconnected.abort();
            });
        }),
      hold: (on) => streams.hold(on),
      write: (to, bytes) => {
        this.outputs.set(id, `${this.outputs.get(id) ?? ''}${textOf(bytes)}`.slice(0, OUTPUT_LIMIT));
        return streams.write(to, bytes);
      },
      finish: (status) => streams.finish(status),
    };
    const endWith = (code: number): Promise<void> => {
      const message = environment.files.read(container.terminationMessagePath ?? DEFAULT_PATH) ?? '';
      return this.exit(pod, container, code, limitedMessage(pod, message));
    };
    await runFor(recorded, commandOf(container, environment.variables), environment, { clock, tty, ended: endWith });
  }

  /** Writes that the container has exited; its node does the rest. */
  private async exit({ metadata }: WorkloadPod, { name }: Container, exitCode: number, message: string): Promise<void> {
    const { client, clock } = this.options;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const pod = await findPod(client, metadata.namespace ?? '', metadata.name ?? '');
      const running = pod === undefined ? undefined : statusOf(pod, name)?.state?.running;
      if (pod?.metadata.uid !== metadata.uid || pod === undefined || running == null) return;
      const finishedAt = formatTime(clock.now());
      const containerStatuses = (pod.status?.containerStatuses ?? []).map((status) => {
        if (status.name !== name) return status;
        const { containerID } = status;
        const end = { exitCode, reason: reasonOf(exitCode), ...(message !== '' && { message }) };
        const terminated = { ...end, startedAt: running.startedAt, finishedAt, containerID };
        return { ...status, state: { terminated }, ready: false, started: false };
      });
      const patch = { metadata: { resourceVersion: pod.metadata.resourceVersion }, status: { containerStatuses } };
      try {
        await client.patch(refs.pods, metadata.namespace ?? '', metadata.name ?? '', patch, 'status').catch(unlessGone);
        return;
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    }
  }
}

const idOf = (pod: WorkloadPod, { name }: Container): string => `${pod.metadata.uid}/${name}#${statusOf(pod, name)?.restartCount ?? 0}`;
