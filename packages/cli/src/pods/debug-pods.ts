/** The pods and containers that `plat debug` makes. */
import { FlagError } from '@plat-dev/lib/flags';

export interface DebugChoice {
  readonly image: string;
  /** Name of the container; empty for a generated one. */
  readonly container: string;
  readonly args: readonly string[];
  readonly argumentsOnly: boolean;
  readonly env: ReadonlyMap<string, string>;
  readonly imagePullPolicy: string;
  readonly stdin: boolean;
  readonly tty: boolean;
  readonly target: string;
  readonly copyTo: string;
  readonly sameNode: boolean;
  readonly setImage: ReadonlyMap<string, string>;
  /** Undefined leaves what the pod has. */
  readonly shareProcesses: boolean | undefined;
}

export interface DebugContainer {
  readonly name: string;
  readonly image?: string;
  readonly [field: string]: unknown;
}
export interface DebuggedPod {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly DebugContainer[];
    readonly initContainers?: readonly DebugContainer[];
    readonly ephemeralContainers?: readonly DebugContainer[];
    readonly [field: string]: unknown;
  };
}

/** Where a container writes its last message. */
const messages = { terminationMessagePolicy: 'File' };

const envOf = ({ env }: DebugChoice): { name: string; value: string }[] => [...env].map(([name, value]) => ({ name, value }));
const argsOf = ({ args, argumentsOnly }: DebugChoice): object => (args.length === 0 ? {} : argumentsOnly ? { args } : { command: args });
const common = (choice: DebugChoice): object => ({
  ...(choice.env.size > 0 && { env: envOf(choice) }),
  ...(choice.imagePullPolicy !== '' && { imagePullPolicy: choice.imagePullPolicy }),
  ...(choice.stdin && { stdin: true }),
  ...(choice.tty && { tty: true }),
});

/** A container that is added to a running pod. */
export const ephemeralContainer = (name: string, choice: DebugChoice): DebugContainer => ({
  name,
  image: choice.image,
  ...messages,
  ...common(choice),
  ...argsOf(choice),
  ...(choice.target !== '' && { targetContainerName: choice.target }),
});

/** A pod that sees the processes, the network and the files of a node. */
export const nodePod = (name: string, node: string, choice: DebugChoice): DebuggedPod => ({
  metadata: { name },
  spec: {
    containers: [
      {
        name: choice.container === '' ? 'debugger' : choice.container,
        image: choice.image,
        ...messages,
        ...common(choice),
        ...argsOf(choice),
        volumeMounts: [{ mountPath: '/host', name: 'host-root' }],
      },
    ],
    hostIPC: true,
    hostNetwork: true,
    hostPID: true,
    nodeName: node,
    restartPolicy: 'Never',
    tolerations: [{ operator: 'Exists' }],
    volumes: [{ name: 'host-root', hostPath: { path: '/' } }],
  },
});

export const containerNames = ({ spec }: DebuggedPod): Set<string> =>
  new Set([...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])].map(({ name }) => name));

export interface PodCopy {
  readonly pod: DebuggedPod;
  /** The container for debugging; empty if only images were changed. */
  readonly container: string;
}
/** A copy of a pod with changed images, and a container that is added or changed. `generate` makes a name for a new one. */
export function podCopy(original: DebuggedPod, choice: DebugChoice, generate: () => string): PodCopy {
  const { ephemeralContainers: _, nodeName, ...spec } = original.spec;
  const containers = spec.containers.map((one) => {
    const image = choice.setImage.get(one.name) ?? choice.setImage.get('*');
    return image === undefined ? one : { ...one, image };
  });
  const copy = (containers: readonly DebugContainer[], initContainers = spec.initContainers): DebuggedPod => ({
    metadata: {
      name: choice.copyTo,
      ...(original.metadata.namespace !== undefined && { namespace: original.metadata.namespace }),
      ...(original.metadata.annotations !== undefined && { annotations: original.metadata.annotations }),
    },
    spec: {
      ...spec,
      ...(choice.shareProcesses !== undefined && { shareProcessNamespace: choice.shareProcesses }),
      ...(choice.sameNode && nodeName !== undefined && { nodeName }),
      containers,
      ...(initContainers !== undefined && { initContainers }),
    },
  });
  const changed = (one: DebugContainer): DebugContainer => changedContainer(one, choice);
  const isChosen = ({ name }: DebugContainer): boolean => name === choice.container;
  if (containers.some(isChosen))
    return { pod: copy(containers.map((one) => (isChosen(one) ? changed(one) : one))), container: choice.container };
  if (spec.initContainers?.some(isChosen)) {
    const initContainers = spec.initContainers.map((one) => (isChosen(one) ? changed(one) : one));
    return { pod: copy(containers, initContainers), container: choice.container };
  }
  if (choice.image === '') {
    if (choice.setImage.size > 0) return { pod: copy(containers), container: '' };
    throw new FlagError('you must specify image when creating new container');
  }
  const name = choice.container === '' ? generate() : choice.container;
  return { pod: copy([...containers, changed({ name, ...messages })]), container: name };
}

function changedContainer({ stdin: _, tty: __, ...container }: DebugContainer, choice: DebugChoice): DebugContainer {
  const { args, command, ...rest } = container as DebugContainer & { args?: unknown; command?: unknown };
  const own = { ...(command !== undefined && { command }), ...(args !== undefined && { args }) };
  const commandFields = choice.args.length === 0 ? own : choice.argumentsOnly ? { ...own, args: choice.args } : { command: choice.args };
  return { ...(rest as DebugContainer), ...commandFields, ...(choice.image !== '' && { image: choice.image }), ...common(choice) };
}
