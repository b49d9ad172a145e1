/** `plat port-forward`: forwards local ports to a pod. */
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { openWebSocket } from '@plat-dev/client/websocket';
import { duration, FlagError, type FlagValues, list } from '@plat-dev/lib/flags';
import { identities } from '@plat-dev/meta/identity';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { namespaceFlag } from '../objects/object-flags.ts';
import { printable } from '../output/print-table.ts';
import { stopSignal } from '../terminal/stop-signal.ts';
import { type Work, withServer } from '../work.ts';
import { type Pod, parseTarget, podPath, podsOf } from './select-pods.ts';

const table = {
  Forwarding: {
    namespace: namespaceFlag,
    address: list(['localhost'], 'Addresses to listen on. Anyone who can connect to them can connect to the pod.'),
    'pod-running-timeout': duration('1m', 'Time to wait until a workload has a pod.'),
  },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

export const portForward = command({
  usage: 'POD | TYPE/NAME [LOCAL:]REMOTE… [flags]',
  summary: 'Forward local ports to a pod.',
  flags: table,
  more: `
A port is 80 (the same local and remote port), 8080:80, or :80 for any free local port. The remote port may be a port name of
the pod or the service. Of a workload or service one pod is selected, a running one if there is any.

Examples:
  plat port-forward web 8080:80
  plat port-forward service/web :http
  plat port-forward deployment/web 5432 --address=0.0.0.0

Runs until it is interrupted. Exit codes:
  0   interrupted
  1   cannot listen, or there is no such pod
  2   the command line is wrong
`,
  async run({ options, args }, io) {
    const [target, ...portWords] = args;
    if (target === undefined || portWords.length === 0) {
      throw new FlagError('pod or ports missing. For example: plat port-forward web 8080:80');
    }
    const pairs = portWords.map(parsePair);
    return withServer(options, io, (work) => forward(work, target, pairs, options), { untilInterrupted: true });
  },
});

export interface Pair {
  /** 0 takes a free one; undefined is the same as the remote one. */
  readonly local: number | undefined;
  readonly remote: string;
}
/** `80`, `8080:80`, `:80`, `8080:http` */
export function parsePair(word: string): Pair {
  const match = /^(?:(\d*):)?([a-z0-9-]+)$/i.exec(word);
  if (match === null) throw new FlagError(`${JSON.stringify(word)} is not a pair of ports such as 8080:80`);
  const [, local, remote = ''] = match;
  for (const port of [local ?? '', remote])
    if (/^\d+$/.test(port) && (Number(port) > 65535 || (port === remote && Number(port) === 0)))
      throw new FlagError(`${port} is not a port`);
  return { local: local === undefined ? undefined : Number(local || 0), remote };
}

interface Service {
  readonly spec?: { readonly ports?: readonly { readonly name?: string; readonly port: number; readonly targetPort?: number | string }[] };
}

async function forward(work: Work, target: string, pairs: readonly Pair[], options: Options): Promise<number> {
  const [pod] = await podsOf(work, target, options.podRunningTimeout);
  if (pod === undefined) throw new Error(`there is no pod of ${target}`);
  if (pod.status?.phase !== undefined && pod.status.phase !== 'Running') {
    throw new Error(`the pod ${pod.metadata.name} is ${pod.status.phase}, but must be Running`);
  }
  const service = await serviceOf(work, target);
  const { stopped, forget } = stopSignal(work.io);
  const servers: Server[] = [];
  const relay = new Relay(work, pod.metadata.name);
  try {
    for (const pair of pairs) {
      const remote = remotePort(pair.remote, pod, service);
      const local = pair.local ?? (/^\d+$/.test(pair.remote) ? Number(pair.remote) : remote);
      servers.push(...(await listenAll(work, options.address, local, remote, (socket) => relay.carry(socket, remote))));
    }
    await stopped;
    return 0;
  } finally {
    forget();
    for (const server of servers) server.close();
    relay.close();
  }
}
async function serviceOf(work: Work, target: string): Promise<Service | undefined> {
  const { type, name } = parseTarget(target);
  if (!['service', 'services', 'svc'].includes(type.toLowerCase())) return undefined;
  const path = podPath(work.namespace, name).replace('/pods/', '/services/');
  return work.session.transport.json<Service>({ path, signal: work.signal, ...work.session.timeout });
}

/** A port of the pod; a port of a service is resolved to its target port. */
export function remotePort(word: string, pod: Pod, service: Service | undefined): number {
  const containerPortOf = (name: string): number => {
    const ports = (pod.spec?.containers ?? []).flatMap(({ ports = [] }) => ports);
    const containerPort = ports.find((port) => port.name === name)?.containerPort;
    if (containerPort !== undefined) return containerPort;
    const names = ports.flatMap(({ name: one }) => (one === undefined ? [] : [one]));
    throw new FlagError(
      `the pod ${pod.metadata.name} has no port ${JSON.stringify(name)}${names.length === 0 ? '' : `: it has ${names.join(', ')}`}`,
    );
  };
  if (service === undefined) return /^\d+$/.test(word) ? Number(word) : containerPortOf(word);
  const ports = service.spec?.ports ?? [];
  const servicePort = ports.find(({ name, port }) => name === word || String(port) === word);
  if (servicePort === undefined)
    throw new FlagError(`the service has no port ${word}: it has ${ports.map(({ name, port }) => name ?? port).join(', ')}`);
  const { targetPort = servicePort.port } = servicePort;
  return typeof targetPort === 'number' ? targetPort : containerPortOf(targetPort);
}

async function listenAll(
  work: Work,
  addresses: readonly string[],
  local: number,
  remote: number,
  carry: (socket: Socket) => void,
): Promise<Server[]> {
  const servers: Server[] = [];
  const failures: string[] = [];
  // `localhost` means both loopback addresses; one of them may be missing.
  for (const address of addresses.flatMap((one) => (one === 'localhost' ? ['127.0.0.1', '::1'] : [one]))) {
    const port = local === 0 && servers[0] !== undefined ? (servers[0].address() as AddressInfo).port : local;
    const server = createServer(carry);
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, address, resolve);
      });
      servers.push(server);
      const host = address.includes(':') ? `[${address}]` : address;
      work.io.out(`Forwarding from ${host}:${(server.address() as AddressInfo).port} -> ${remote}\n`);
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  if (servers.length === 0) throw new Error(`cannot listen on port ${local}: ${failures.join('; ')}`);
  return servers;
}

/** Names of the protocol at servers of each identity. Data and errors have a channel each, which begins with the port. */
const protocols = Object.values(identities).map(({ groupSuffix }) => `v4.channel.${groupSuffix}`);
const DATA = 0;
const ERROR = 1;
const PORT_BYTES = 2;
/** Connections at once; one more is refused. */
const MAX_CONNECTIONS = 256;

class Relay {
  private readonly work: Work;
  private readonly pod: string;
  private readonly open = new Set<Socket>();

  constructor(work: Work, pod: string) {
    this.work = work;
    this.pod = pod;
  }
  close(): void {
    for (const socket of this.open) socket.destroy();
  }
  carry(socket: Socket, remote: number): void {
    socket.on('error', () => {});
    if (this.open.size >= MAX_CONNECTIONS) return void socket.destroy();
    this.open.add(socket);
    this.work.io.out(`Handling connection for ${socket.localPort}\n`);
    socket.once('close', () => this.open.delete(socket));
    socket.pause();
    this.join(socket, remote).catch((error: Error) => {
      this.work.io.err(`plat: port ${remote}: ${printable(error.message)}\n`);
      socket.destroy();
    });
  }
  /** The protocol carries one connection to a port, so each has a WebSocket of its own. */
  private async join(socket: Socket, remote: number): Promise<void> {
    const isSocketOpen = [false, false];
    const path = `${podPath(this.work.namespace, this.pod)}/portforward?ports=${remote}`;
    const far = await openWebSocket(
      this.work.session.transport,
      { path, protocols },
      {
        message: (bytes) => {
          const channel = bytes[0] ?? DATA;
          const payload = bytes.subarray(isSocketOpen[channel] ? 1 : 1 + PORT_BYTES);
          isSocketOpen[channel] = true;
          if (payload.length === 0) return;
          if (channel === ERROR) this.work.io.err(`plat: port ${remote}: ${printable(payload.toString())}\n`);
          else if (channel === DATA && !socket.write(payload)) {
            far.pause();
            socket.once('drain', () => far.resume());
          }
        },
        close: () => socket.end(),
      },
    );
    socket.on('data', (chunk: Buffer) => {
      socket.pause();
      far.send(Buffer.concat([Buffer.from([DATA]), chunk]), () => socket.resume());
    });
    socket.once('close', () => far.close(1000));
    if (socket.destroyed) far.close(1000);
    else socket.resume();
  }
}
