/** `plat run`: a pod from flags, and its input and output with --attach or -i. */
import { queryOf } from '@plat-dev/client/dynamic';
import { errorOf, readAll } from '@plat-dev/client/transport';
import { bool, duration, FlagError, type FlagValues, optionalBool, parseFlags, repeated, text } from '@plat-dev/lib/flags';
import { ApiError } from '@plat-dev/meta/errors';
import type { JsonObject } from '@plat-dev/schema/types';
import { type Command, helpText, type IO } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { podResource, serviceResource } from '../discovery/core-resources.ts';
import { overridden, overrideFlags } from '../edit/local-patch.ts';
import { changeCause, commandLine, recordFlag, withAnnotations } from '../edit/record.ts';
import { deleteObject, deletingFlags, waitUntilGone } from '../objects/delete.ts';
import { Deadline, followObject } from '../objects/follow-object.ts';
import { commandManagerFlag, dryRunFlag, namespaceFlag, resultFlags } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { Results } from '../output/results.ts';
import { runRemote } from '../pods/remote-command.ts';
import { podPath } from '../pods/select-pods.ts';
import { fieldManager } from '../program.ts';
import { Work, withServer } from '../work.ts';
import { type Creation, saveConfigFlag, sendObject, showObject } from './create-objects.ts';
import { podOf, serviceOf } from './run-pod.ts';

const each = (help: string, value: string) => repeated<readonly string[]>([], help, value, (values) => values);
const table = {
  Pod: {
    namespace: namespaceFlag,
    image: text('', 'Image of the container.', { value: 'IMAGE' }),
    'image-pull-policy': text('', 'When to pull the image: Always, IfNotPresent or Never.', {
      value: 'POLICY',
      defaultText: 'that of the server',
    }),
    env: each('Environment variable of the container; may be repeated.', 'NAME=VALUE'),
    labels: text('', 'Labels of the pod: app=web,tier=front.', { short: 'l', value: 'KEY=VALUE,…', defaultText: 'run=NAME' }),
    annotations: each('Annotation of the pod; may be repeated.', 'KEY=VALUE'),
    port: text('', 'Port that the container exposes.', { value: 'PORT' }),
    expose: bool(false, 'Create a service for the pod, too; needs --port.'),
    restart: text('Always', 'Restart policy: Always, OnFailure or Never.', { value: 'POLICY' }),
    command: bool(false, 'Use the arguments as the command of the container, not as arguments of its program.'),
    privileged: bool(false, 'Run the container in privileged mode.'),
    ...overrideFlags,
  },
  Attaching: {
    attach: optionalBool('Attach to the pod when it runs.', { defaultText: 'true with -i' }),
    stdin: bool(false, 'Keep stdin of the container open, and pass it on.', { short: 'i' }),
    tty: bool(false, 'Allocate a terminal; needs -i.', { short: 't' }),
    'leave-stdin-open': bool(false, 'Keep stdin of the container open after the first client has left.'),
    quiet: bool(false, 'Print only the output of the container.', { short: 'q' }),
    'pod-running-timeout': duration('1m', 'Time to wait until the pod runs.'),
    rm: bool(false, 'Delete the pod when its container has exited; needs --attach or -i.'),
    cascade: deletingFlags.cascade,
    force: deletingFlags.force,
    'grace-period': deletingFlags['grace-period'],
    timeout: deletingFlags.timeout,
    wait: bool(false, 'With --rm: wait until the pod is gone.'),
  },
  Creating: { 'field-manager': commandManagerFlag, 'dry-run': dryRunFlag, 'save-config': saveConfigFlag, record: recordFlag },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

export const run: Command = {
  usage: 'NAME --image IMAGE [flags] [-- ARGUMENTS]',
  summary: 'Run a pod.',
  flags: table,
  help: (width) =>
    helpText(
      table,
      `Examples:
  plat run web --image=nginx --port=80 --expose
  plat run -it --rm shell --image=busybox --restart=Never -- sh
  plat run clock --image=busybox --restart=Never --command -- date

Exit codes:
  that of the container, if attached and not restarted
  1   the pod could not be created or attached to
  2   the command line is wrong
`,
      width,
    ),
  async run(argv, io) {
    const at = argv.indexOf('--');
    const { options, args, raw } = parseFlags(table, at === -1 ? argv : argv.slice(0, at));
    const [name, ...more] = args;
    if (name === undefined) throw new FlagError('which name? For example: plat run web --image=nginx');
    const isAttaching = options.attach ?? options.stdin;
    check(options, isAttaching);
    const words = [...more, ...(at === -1 ? [] : argv.slice(at + 1))];
    const objects = {
      pod: await overridden(podOf(name, words, options), options),
      service: options.expose ? serviceOf(name, options) : undefined,
    };
    if (options.dryRun === 'client') return show(io, objects, options);
    const line = commandLine(io, 'run', [name, ...words], raw);
    return withServer(options, io, (work) => new Running(work, options, isAttaching).run(objects, line));
  },
};

function check(options: Options, isAttaching: boolean): void {
  if (options.tty && !options.stdin) throw new FlagError('-t needs -i: a terminal without input is of no use');
  if (options.expose && options.port === '') throw new FlagError('--expose needs --port');
  if (options.rm && !isAttaching) throw new FlagError('--rm needs --attach or -i');
  if (isAttaching && options.dryRun !== 'none') throw new FlagError('--dry-run excludes --attach and -i');
}

interface Objects {
  readonly pod: JsonObject;
  readonly service: JsonObject | undefined;
}
const inNamespace = (object: JsonObject, namespace: string | undefined): JsonObject =>
  namespace === undefined ? object : { ...object, metadata: { ...(object.metadata as object), namespace } };

async function show(io: IO, { pod, service }: Objects, options: Options): Promise<number> {
  const print = async (object: JsonObject, resource: Creation['resource']): Promise<void> => {
    const results = new Results(io, options);
    const creation = { resource, namespace: options.namespace, object: inNamespace(object, options.namespace), verb: 'created' };
    showObject(io, creation, options, results);
    await results.end();
  };
  if (service !== undefined) {
    await print(service, serviceResource);
    if (options.output === 'yaml') io.out('---\n');
  }
  await print(pod, podResource);
  return 0;
}

interface PodStatus extends ApiItem {
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly {
      readonly state?: { readonly terminated?: { readonly exitCode?: number; readonly reason?: string; readonly message?: string } };
    }[];
  };
}
const hasEnded = ({ status }: PodStatus): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

class Running {
  private readonly work: Work;
  private readonly options: Options;
  private readonly isAttaching: boolean;

  constructor(work: Work, options: Options, isAttaching: boolean) {
    this.work = work;
    this.options = options;
    this.isAttaching = isAttaching;
  }
  async run({ pod, service }: Objects, line: string): Promise<number> {
    const { work, options } = this;
    const annotations = await changeCause(work, options.record, line);
    const createdRefs: ObjectRef[] = [];
    try {
      const created = await this.create(withAnnotations(pod, annotations), podResource, createdRefs);
      const code = service === undefined ? 0 : await this.expose(service, createdRefs);
      // What the pod prints follows.
      if (this.isAttaching) return await this.attach(createdRefs[0] as ObjectRef);
      const results = new Results(work.io, options);
      results.done(createdRefs[0] as ObjectRef, 'created', created);
      return Math.max(code, await results.end());
    } finally {
      if (options.rm) await this.remove(createdRefs);
    }
  }
  private async create(object: JsonObject, resource: Creation['resource'], createdRefs: ObjectRef[]): Promise<ApiItem> {
    const { work, options } = this;
    const namespace = ((object.metadata ?? {}) as { namespace?: string }).namespace ?? work.namespace;
    const sending = { ...options, fieldManager: fieldManager(work.io, 'run', options.fieldManager) };
    const created = await sendObject(work, { resource, namespace, object }, sending);
    createdRefs.push({ resource, namespace, name: created.metadata?.name ?? '' });
    return created;
  }
  /** A service that cannot be created does not stop the pod. */
  private async expose(service: JsonObject, createdRefs: ObjectRef[]): Promise<number> {
    const { io } = this.work;
    const results = new Results(io, this.options);
    try {
      const created = await this.create(service, serviceResource, createdRefs);
      results.done(createdRefs.at(-1) as ObjectRef, 'created', created);
    } catch (error) {
      results.failed('service', error);
    }
    const code = await results.end();
    if (this.options.output === 'yaml' && code === 0) io.out('---\n');
    return code;
  }

  // ---- attaching -------------------------------------------------------------------------------------------------

  private async attach(ref: ObjectRef): Promise<number> {
    const { work, options } = this;
    const pod = await this.wait(ref, (one) => hasEnded(one) || isReady(one), 'the pod to run');
    if (hasEnded(pod)) await this.printLog(ref);
    else await this.connect(ref);
    if (options.leaveStdinOpen || options.restart === 'Always') return 0;
    const endStatus = await this.wait(
      ref,
      (one) => (options.restart === 'OnFailure' ? one.status?.phase === 'Succeeded' : hasEnded(one)),
      'the pod to end',
    );
    if (endStatus.status?.phase === 'Succeeded') return 0;
    const { exitCode = 0, reason = '', message = '' } = endStatus.status?.containerStatuses?.[0]?.state?.terminated ?? {};
    if (exitCode === 0) throw new Error(`pod ${ref.namespace}/${ref.name} failed with unknown exit code`);
    work.io.err(`pod ${ref.namespace}/${ref.name} terminated (${reason})${message === '' ? '' : `\n${message}`}\n`);
    return exitCode;
  }
  private async wait(ref: ObjectRef, isDone: (pod: PodStatus) => boolean, what: string): Promise<PodStatus> {
    let last: PodStatus | undefined;
    const deadline = new Deadline(this.options.podRunningTimeout, this.work.io.clock);
    const isReached = await followObject(this.work, ref, deadline, (object) => {
      last = object as PodStatus | undefined;
      if (last === undefined) throw new Error(`the pod ${ref.name} was deleted`);
      return isDone(last);
    });
    if (!isReached)
      throw new Error(`timed out waiting for ${what}: it is ${last?.status?.phase ?? 'unknown'}; --pod-running-timeout waits longer`);
    return last as PodStatus;
  }
  private async connect(ref: ObjectRef): Promise<void> {
    const { work, options } = this;
    const { stdin, tty, quiet } = options;
    if (stdin && tty && !quiet) work.io.err("If you don't see a command prompt, try pressing enter.\n");
    try {
      await runRemote(work, { what: 'attach', pod: ref.name, container: await this.container(ref), command: [], stdin, tty });
    } catch (error) {
      if (work.signal.aborted) throw error;
      work.io.err(`Error attaching, falling back to logs: ${(error as Error).message}\n`);
      await this.printLog(ref);
    }
  }
  /** Overrides may have given the container another name. */
  private async container(ref: ObjectRef): Promise<string> {
    const { spec } = await this.work.get<{ spec?: { containers?: { name: string }[] } }>(ref);
    return spec?.containers?.[0]?.name ?? ref.name;
  }
  private async printLog(ref: ObjectRef): Promise<void> {
    const { work } = this;
    const path = `${podPath(work.namespace, ref.name)}/log?${queryOf({ container: await this.container(ref) })}`;
    const answer = await work.session.transport.open({ path, signal: work.signal, ...work.session.timeout });
    if (answer.status >= 300) throw await errorOf(answer);
    work.io.out((await readAll(answer.body, maxLogBytes)).toString());
  }

  // ---- --rm ------------------------------------------------------------------------------------------------------

  /** After an interrupt, too: requests of their own signal. */
  private async remove(createdRefs: readonly ObjectRef[]): Promise<void> {
    const { options } = this;
    const work = new Work(this.work.session, this.work.io, new AbortController().signal);
    const deadline = new Deadline(options.timeout, work.io.clock);
    for (const ref of createdRefs) {
      try {
        const uid = await deleteObject(work, ref, { ...options, now: false });
        if (!options.quiet) work.io.out(`${ref.resource.singularName} "${ref.name}" deleted\n`);
        if (options.wait) await waitUntilGone(work, ref, uid, deadline);
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 404)) throw error;
      }
    }
  }
}
const maxLogBytes = 1 << 30;

const isReady = ({ status }: PodStatus): boolean =>
  status?.phase === 'Running' && (status.conditions ?? []).some((one) => one.type === 'Ready' && one.status === 'True');
