/** `plat debug`: a container for debugging in a running pod, in a copy of a pod, or on a node. */
import { bool, choice, FlagError, type FlagValues, optionalBool, pairs, parseFlags, text } from '@plat-dev/lib/flags';
import { systemRandom } from '@plat-dev/lib/random';
import { ApiError } from '@plat-dev/meta/errors';
import { generatedAlphabet, generatedLength } from '@plat-dev/meta/names';
import { type Command, helpText } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { Deadline, followObject } from '../objects/follow-object.ts';
import { namespaceFlag } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { type Work, withServer } from '../work.ts';
import { containerNames, type DebugChoice, type DebuggedPod, ephemeralContainer, nodePod, podCopy } from './debug-pods.ts';
import { runRemote } from './remote-command.ts';
import { podPath } from './select-pods.ts';

const table = {
  Container: {
    namespace: namespaceFlag,
    image: text('', 'Image of the container for debugging.', { value: 'IMAGE' }),
    container: text('', 'Name of the container for debugging.', { short: 'c', value: 'NAME' }),
    'arguments-only': bool(false, 'What follows -- are the arguments of the container, not its command.'),
    env: pairs('Environment variables of the container.'),
    'image-pull-policy': choice('', ['', 'Always', 'IfNotPresent', 'Never'], 'When to pull the image.', {
      value: 'Always|IfNotPresent|Never',
    }),
    target: text('', 'Container whose processes the one for debugging sees.', { value: 'NAME' }),
  },
  Copy: {
    'copy-to': text('', 'Debug a copy of the pod with this name.', { value: 'NAME' }),
    replace: bool(false, 'Delete the original pod.'),
    'same-node': bool(false, 'Run the copy on the node of the pod.'),
    'set-image': pairs('Images of containers of the copy: main=image, *=image.'),
    'share-processes': optionalBool('Let the containers of the copy see the processes of each other.', { defaultText: 'true' }),
  },
  Terminal: {
    attach: optionalBool('Attach to the container when it runs.', { defaultText: 'false, with --stdin true' }),
    stdin: bool(false, 'Keep stdin of the container open.', { short: 'i' }),
    tty: bool(false, 'Allocate a terminal; needs -i.', { short: 't' }),
    quiet: bool(false, 'Print no notes.', { short: 'q' }),
  },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

export const debug: Command = {
  usage: 'POD | TYPE/NAME [flags] [-- COMMAND [ARGUMENTS]]',
  summary: 'Debug a pod or a node with a container of its own.',
  flags: table,
  help: (width) =>
    helpText(
      table,
      `Of a pod, a container is added while it runs, or with --copy-to a copy of the pod is made and changed. Of a node, a pod is made
that sees its processes and network, with the files of the node at /host. What was made stays until it is deleted.

Examples:
  plat debug web -it --image=busybox
  plat debug web --copy-to=web-debug --set-image=main=web:debug --share-processes
  plat debug node/node1 -it --image=busybox -- chroot /host

Exit codes:
  0     the container was made, and if attached, its program ended well
  1     it could not be made
  2     the command line is wrong
  130   interrupted
`,
      width,
    ),
  async run(argv, io) {
    const at = argv.indexOf('--');
    const command = at === -1 ? [] : argv.slice(at + 1);
    const { options, args, givenFlags } = parseFlags(table, at === -1 ? argv : argv.slice(0, at));
    check(options, args, command, givenFlags.has('attach'));
    const debugChoice = choiceOf(options, command);
    if (options.target !== '' && !options.quiet) {
      io.out(
        `Targeting container ${JSON.stringify(options.target)}. If you don't see processes from this container it may be because the container runtime doesn't support this feature.\n`,
      );
    }
    return withServer(options, io, async (work) => {
      let code = 0;
      for (const word of args) code = Math.max(code, await new Debugger(work, options, debugChoice).run(word));
      return code;
    });
  },
};

const choiceOf = (options: Options, args: readonly string[]): DebugChoice => ({ ...options, args });

const image = /^[a-z0-9]([a-z0-9._/:-]|@(?=sha\d+:))*$/i;
function check(options: Options, args: readonly string[], command: readonly string[], attachGiven: boolean): void {
  const fail = (message: string): never => {
    throw new FlagError(message);
  };
  if (args.length === 0) fail('NAME is required for debug. For example: plat debug web -it --image=busybox');
  if (options.attach === true && attachGiven && options.image === '' && options.container === '')
    fail('you must specify --container or create a new container using --image in order to attach');
  if (options.copyTo !== '') {
    if (options.image === '' && options.setImage.size === 0 && command.length === 0)
      fail('you must specify --image, --set-image or command arguments');
    if (command.length > 0 && options.container === '' && options.image === '')
      fail('you must specify an existing container or a new image when specifying args');
    if (options.target !== '') fail('--target is incompatible with --copy-to. Use --share-processes instead');
  } else {
    if (options.replace) fail('--replace may only be used with --copy-to');
    if (options.sameNode) fail('--same-node may only be used with --copy-to');
    if (options.setImage.size > 0) fail('--set-image may only be used with --copy-to');
    if (options.image === '') fail('you must specify --image when not using --copy-to');
  }
  if (options.image !== '' && !image.test(options.image))
    fail(`invalid image name ${JSON.stringify(options.image)}: invalid reference format`);
  for (const [name, value] of options.setImage)
    if (!image.test(value))
      fail(`invalid image name ${JSON.stringify(value)} for container ${JSON.stringify(name)}: invalid reference format`);
  if (options.tty && !options.stdin) fail('-i/--stdin is required for containers with -t/--tty=true');
}

class Debugger {
  private readonly work: Work;
  private readonly options: Options;
  private readonly choice: DebugChoice;

  constructor(work: Work, options: Options, choice: DebugChoice) {
    this.work = work;
    this.options = options;
    this.choice = choice;
  }
  async run(word: string): Promise<number> {
    const [first = '', second, more] = word.split('/');
    if (first === '' || second === '' || more !== undefined)
      throw new FlagError(`${JSON.stringify(word)} is neither a pod nor of the form type/name`);
    const resource = await this.work.discovery.find(second === undefined ? 'pods' : first);
    const ref: ObjectRef = { resource, namespace: resource.namespaced ? this.work.namespace : undefined, name: second ?? first };
    if (resource.group !== '' || !['Pod', 'Node'].includes(resource.kind))
      throw new Error(`${JSON.stringify(resource.kind)} not supported by debug: name a pod or a node`);
    const debugged =
      resource.kind === 'Node' ? await this.onNode(ref) : this.choice.copyTo === '' ? await this.inPod(ref) : await this.inCopy(ref);
    const isAttaching = this.options.attach ?? this.options.stdin;
    return isAttaching && debugged.container !== '' ? this.attach(debugged.pod, debugged.container) : 0;
  }
  private note(text: string): void {
    if (!this.options.quiet) this.work.io.out(`${text}\n`);
  }

  private async onNode(ref: ObjectRef): Promise<{ pod: ObjectRef; container: string }> {
    await this.work.get(ref);
    const name = `node-debugger-${ref.name}-${suffix()}`;
    const pod = nodePod(name, ref.name, this.choice);
    const container = pod.spec.containers[0]?.name as string;
    this.note(`Creating debugging pod ${name} with container ${container} on node ${ref.name}.`);
    return { pod: await this.create(pod), container };
  }
  private async inPod(ref: ObjectRef): Promise<{ pod: ObjectRef; container: string }> {
    const pod = await this.work.get<DebuggedPod>(ref);
    const container = this.choice.container === '' ? this.newName(pod) : this.choice.container;
    try {
      await this.work.send(ref, {
        method: 'PATCH',
        subresource: 'ephemeralcontainers',
        contentType: 'application/strategic-merge-patch+json',
        body: { spec: { ephemeralContainers: [ephemeralContainer(container, this.choice)] } },
      });
    } catch (error) {
      // A pod that is missing is named in the details; a missing subresource is not.
      if (error instanceof ApiError && error.code === 404 && !error.details?.name)
        throw new Error(`ephemeral containers are disabled for this cluster (error from server: ${JSON.stringify(error.message)})`);
      throw error;
    }
    return { pod: ref, container };
  }
  private async inCopy(ref: ObjectRef): Promise<{ pod: ObjectRef; container: string }> {
    const original = await this.work.get<DebuggedPod>(ref);
    const { pod, container } = podCopy(original, this.choice, () => this.newName(original));
    const copyRef = await this.create(pod);
    if (this.options.replace)
      await this.work.send(ref, { method: 'DELETE', body: { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 } });
    return { pod: copyRef, container };
  }
  private async create(pod: DebuggedPod): Promise<ObjectRef> {
    const resource = await this.work.discovery.find('pods');
    const namespace = pod.metadata.namespace ?? this.work.namespace;
    await this.work.sendTo(resource, namespace, { method: 'POST', body: { apiVersion: 'v1', kind: 'Pod', ...pod } });
    return { resource, namespace, name: pod.metadata.name };
  }
  private newName(pod: DebuggedPod): string {
    const usedNames = containerNames(pod);
    let name: string;
    do name = `debugger-${suffix()}`;
    while (usedNames.has(name));
    this.note(`Defaulting debug container name to ${name}.`);
    return name;
  }

  /** Waits until the container runs or is terminated; its log is shown if it cannot be attached to. */
  private async attach(ref: ObjectRef, container: string): Promise<number> {
    const { io } = this.work;
    let state: ContainerState | undefined;
    let warned = '';
    await followObject(this.work, ref, new Deadline(0, io.clock), (object) => {
      if (object === undefined) throw new Error(`the pod ${ref.name} was deleted`);
      state = stateOf(object as StatusOfPod, container);
      const waiting = state?.waiting?.message ?? '';
      if (waiting !== '' && waiting !== warned && !this.options.quiet) io.err(`Warning: container ${container}: ${waiting}\n`);
      warned = waiting;
      return state?.running !== undefined || state?.terminated !== undefined;
    });
    if (state?.terminated !== undefined) return this.showLog(ref, container);
    const { stdin, tty } = this.choice;
    if (stdin && tty && !this.options.quiet) io.err("If you don't see a command prompt, try pressing enter.\n");
    try {
      return await runRemote(this.work, {
        what: 'attach',
        namespace: ref.namespace as string,
        pod: ref.name,
        container,
        command: [],
        stdin,
        tty,
      });
    } catch (error) {
      if (this.work.signal.aborted) throw error;
      io.err(`Error attaching, falling back to logs: ${(error as Error).message}\n`);
      return this.showLog(ref, container);
    }
  }
  private async showLog(ref: ObjectRef, container: string): Promise<number> {
    const { transport } = this.work.session;
    const path = `${podPath(ref.namespace as string, ref.name)}/log?container=${encodeURIComponent(container)}`;
    this.work.io.out(await transport.text({ path, signal: this.work.signal }));
    return 0;
  }
}

interface ContainerState {
  readonly waiting?: { readonly message?: string };
  readonly running?: object;
  readonly terminated?: object;
}
type Statuses = readonly { readonly name: string; readonly state?: ContainerState }[];
interface StatusOfPod {
  readonly status?: {
    readonly initContainerStatuses?: Statuses;
    readonly containerStatuses?: Statuses;
    readonly ephemeralContainerStatuses?: Statuses;
  };
}
function stateOf({ status = {} }: StatusOfPod, container: string): ContainerState | undefined {
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? []), ...(status.ephemeralContainerStatuses ?? [])];
  return all.find(({ name }) => name === container)?.state;
}

const suffix = (): string =>
  Array.from({ length: generatedLength }, () => generatedAlphabet[systemRandom.below(generatedAlphabet.length)]).join('');
