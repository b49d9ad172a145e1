/**
 * The endpoints of simulated nodes: logs, exec, attach and port-forward of their pods. They are those of a node agent, answered
 * within this process: a connection is a pair of streams, and nothing listens anywhere.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { refs } from '@plat-dev/controllers/runtime/controller';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { LocalSocket } from '@plat-dev/lib/files/local-socket';
import { jsonText } from '@plat-dev/lib/json-text';
import { inSlices, Slices, turnWithTime } from '@plat-dev/lib/slices';
import { commandStatus } from '@plat-dev/meta/errors';
import { identities } from '@plat-dev/meta/identity';
import { TimeError, timeMillis } from '@plat-dev/meta/time';
import type { WorkloadPod } from '../../shared/pods.ts';
import type { Annotated } from '../annotations.ts';
import { argvOf, type Container } from '../container-command.ts';
import { type LogLine, linesOfRun } from '../container-log.ts';
import { afterInit, type DiskWorld, environmentAtStart, environmentNow } from '../disks.ts';
import { listening } from '../listening.ts';
import { type Environment, run, UnknownProgram } from '../shell/run.ts';
import { NotSupported } from '../shell/words.ts';
import type { AgentOptions } from './agent-options.ts';
import { runFor } from './command.ts';
import { linesAt, NoLog, runOf, writeLog } from './logs.ts';
import { containerOf, findPod, PodLooks, sourcesOf, statusOf } from './pod-lookup.ts';
import { PodServer } from './pod-server.ts';
import { ConnectionRefused, forwardSocket, forwardSpdy, type PortTargets, portTargets } from './port-forward.ts';
import { Sessions } from './session.ts';
import { type CommandStreams, SocketStreams, STREAMS_MS, type StreamsWanted, spdyStreams } from './streams.ts';
import { acceptSocket, acceptSpdy, Refused, type UpgradeRequest, webProtocol } from './upgrades.ts';

/** Commands stand in the path of a request: as long as the server accepts, and what it adds. */
const HEADER_BYTES = 128 * 1024;
/** Longest output of a command that is answered at once. */
const OUTPUT_LIMIT = 4 << 20;
/** Most ports that one WebSocket forwards. */
const PORTS_LIMIT = 16;

interface Question {
  readonly action: string;
  readonly pod: WorkloadPod;
  readonly container: Container | undefined;
  readonly query: URLSearchParams;
}

export class SimulatedAgent {
  private readonly options: AgentOptions;
  private readonly server: Server;
  private readonly sockets = new Set<Duplex>();
  private readonly nodes = new WeakMap<object, string>();
  private readonly podServer = new PodServer();
  private readonly sessions: Sessions;
  private readonly looks: PodLooks;
  private readonly suffixes: readonly string[];

  constructor(options: AgentOptions) {
    this.options = options;
    this.sessions = new Sessions(options);
    this.looks = new PodLooks(options.client, options.clock);
    this.suffixes = Object.values(identities).map(({ groupSuffix }) => groupSuffix);
    this.server = createServer({ maxHeaderSize: HEADER_BYTES }, (req, res) => {
      this.answer(req, res).catch((error: unknown) => refuse(res, error));
    });
    this.server.on('upgrade', (req: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy());
      this.upgrade({ req, socket, head }).catch((error: unknown) => refuseUpgrade(socket, error));
    });
  }
  /** A connection to the agent of a simulated node. */
  readonly connect = (node: string): Duplex => {
    const [client, server] = LocalSocket.pair();
    this.nodes.set(server, node);
    this.sockets.add(server);
    server.once('close', () => this.sockets.delete(server));
    this.server.emit('connection', server as unknown as Socket);
    return client;
  };
  /** A connection to a port of a pod: that of an annotation, or one that answers with the name of the pod where something listens. */
  connectToPod(namespace: string, name: string, port: number): Duplex {
    const [client, server] = LocalSocket.pair();
    this.sockets.add(server);
    server.once('close', () => this.sockets.delete(server));
    server.on('error', () => server.destroy());
    this.answerOnPort(server, namespace, name, port).catch((error: unknown) => {
      client.destroy(error as Error);
      server.destroy();
    });
    return client;
  }
  private async answerOnPort(server: Duplex, namespace: string, name: string, port: number): Promise<void> {
    const pod = await findPod(this.options.client, namespace, name);
    if (pod === undefined) throw new ConnectionRefused(`pod ${name}_${namespace} not found`, port);
    const targets = await this.targetsOf(pod);
    const target = targets.local(port);
    if (target === undefined) {
      targets.open(port).destroy();
      this.podServer.accept(server, name);
      return;
    }
    target.on('error', () => server.destroy());
    target.once('close', () => server.destroy());
    server.once('close', () => target.destroy());
    server.pipe(target).pipe(server);
  }
  close(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  private async question(req: IncomingMessage): Promise<Question> {
    // What a connection needs of the API is there within the turn, and many may be opened in one.
    await turnWithTime();
    const [path = '', search = ''] = (req.url ?? '').split('?');
    const [action = '', namespace = '', name = '', container, ...more] = path.slice(1).split('/').map(decoded);
    if (more.length > 0) throw new Refused(404, 'page not found');
    const pod = name === '' ? undefined : await findPod(this.options.client, namespace, name);
    // An agent knows the pods of its node: who may reach one node only must not reach the pods of others.
    if (pod === undefined || pod.spec?.nodeName !== this.nodes.get(req.socket))
      throw new Refused(404, name === '' ? 'page not found' : `pod ${JSON.stringify(`${name}_${namespace}`)} not found`);
    const existingContainer = container === undefined ? undefined : containerOf(pod, container);
    if (container !== undefined && existingContainer === undefined)
      throw new Refused(404, `container ${JSON.stringify(container)} not found in pod ${JSON.stringify(`${name}_${namespace}`)}`);
    return { action, pod, container: existingContainer, query: new URLSearchParams(search) };
  }

  private async answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (req.url === '/healthz') {
      res.end('ok');
      return;
    }
    if (req.url === '/pods' || req.url === '/pods/') return this.pods(req, res);
    const question = await this.question(req);
    if (question.action === 'containerLogs') return this.logs(res, question);
    if (question.action === 'run' && req.method === 'POST') return this.runOnce(res, question);
    throw new Refused(404, 'page not found');
  }

  /** The pods of the node that the request was sent to. */
  private async pods(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const node = this.nodes.get(req.socket) ?? '';
    const podList = await this.options.client.list<WorkloadPod>(refs.pods, undefined, { fieldSelector: `spec.nodeName=${node}` });
    const text = jsonText({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: podList.items });
    res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
    res.end(text);
  }

  private async logs(res: ServerResponse, { pod, container, query }: Question): Promise<void> {
    if (container === undefined) throw new Refused(400, 'a container must be named');
    const { clock } = this.options;
    const isOn = (name: string): boolean => query.get(name) === 'true' || query.get(name) === '1';
    const number = (name: string, least: number): number | undefined => {
      const text = query.get(name);
      if (text === null) return undefined;
      if (!/^\d{1,19}$/.test(text) || Number(text) < least) throw new Refused(400, `${name} must be a number from ${least} on`);
      return Number(text);
    };
    const sinceTime = query.get('sinceTime');
    const sinceSeconds = number('sinceSeconds', 1);
    const options = {
      follow: isOn('follow'),
      previous: isOn('previous'),
      timestamps: isOn('timestamps'),
      tailLines: number('tailLines', 0),
      limitBytes: number('limitBytes', 1),
      since: sinceTime !== null ? timeMillis(sinceTime) : sinceSeconds === undefined ? undefined : clock.now() - sinceSeconds * 1000,
    };
    const { startedAt, endedAt } = runOf(pod, container, options.previous);
    const lines = await this.linesOf(pod, container, startedAt);
    const clientGone = new AbortController();
    res.once('close', () => clientGone.abort());
    res.writeHead(200, { 'Content-Type': 'text/plain' });
    res.flushHeaders();
    const { namespace = '', name = '', uid } = pod.metadata;
    const restarts = statusOf(pod, container.name)?.restartCount;
    const output = options.previous ? undefined : this.sessions.outputOf(pod, container);
    await writeLog(
      output === undefined ? lines : linesAt(output, startedAt),
      options,
      {
        signal: clientGone.signal,
        write: (bytes) => new Promise((resolve) => (res.destroyed ? resolve() : res.write(bytes, () => resolve()))),
      },
      {
        clock,
        endedAt,
        hasEnded: async () => {
          const now = await this.looks.recent(namespace, name);
          const status = now === undefined ? undefined : statusOf(now, container.name);
          return now?.metadata.uid !== uid || status?.state?.running == null || status.restartCount !== restarts;
        },
      },
    );
    res.end();
  }

  /** What a container has written and will write, when its present run began. */
  private async linesOf(pod: WorkloadPod, container: Container, startedAt: number): Promise<Generator<LogLine | undefined, undefined>> {
    const environment = await this.atStart(pod, container);
    return linesOfRun(await this.annotated(pod), container, startedAt, () => environment);
  }
  private async atStart(pod: WorkloadPod, container: Container): Promise<Environment> {
    const world = await this.worldOf(pod);
    return environmentAtStart(pod, container, world, (await inSlices(afterInit(pod, container, world), new Slices())).volumes);
  }
  private async annotated(pod: WorkloadPod): Promise<Annotated> {
    const { client, identity } = this.options;
    const namespace = await client.find<ApiObject>(refs.namespaces, '', pod.metadata.namespace ?? '');
    return { identity, pod, ofNamespace: namespace?.metadata.annotations };
  }
  private async targetsOf(pod: WorkloadPod): Promise<PortTargets> {
    const listens = await inSlices(listening(pod, await this.worldOf(pod)), new Slices());
    return portTargets(await this.annotated(pod), { allowLocal: this.options.forwardLocal, listens });
  }

  private async runOnce(res: ServerResponse, { pod, container, query }: Question): Promise<void> {
    if (container === undefined) throw new Refused(400, 'a container must be named');
    const slices = new Slices();
    const environment = await inSlices(environmentNow(pod, container, await this.worldOf(pod)), slices);
    let text = '';
    try {
      const running = run((query.get('cmd') ?? '').split(' '), environment);
      for (;;) {
        if (slices.due) await slices.pause();
        const { done, value } = running.next(undefined);
        if (done === true) break;
        if ('waitMs' in value) throw new Refused(400, 'the command takes too long');
        if ('out' in value) text += value.out;
        if ('err' in value) text += value.err;
        if (text.length > OUTPUT_LIMIT) throw new Refused(400, 'the command writes too much');
      }
    } catch (error) {
      if (!(error instanceof UnknownProgram || error instanceof NotSupported)) throw error;
      throw new Refused(400, error.message);
    }
    res.end(text);
  }

  private async upgrade(request: UpgradeRequest): Promise<void> {
    const question = await this.question(request.req);
    const { action, pod, query, container } = question;
    if (action === 'portForward') return this.forward(request, question);
    if ((action !== 'exec' && action !== 'attach') || container === undefined) throw new Refused(404, 'page not found');
    if (statusOf(pod, container.name)?.state?.running == null)
      throw new Refused(action === 'exec' ? 500 : 404, `container not found (${JSON.stringify(container.name)})`);
    const wantedStreams: StreamsWanted = {
      stdin: query.get('input') === '1',
      stdout: query.get('output') === '1',
      stderr: query.get('error') === '1',
      tty: query.get('tty') === '1',
    };
    const streams = await this.streams(request, wantedStreams);
    if (streams === undefined) return;
    try {
      if (action === 'exec') await this.exec(streams, pod, container, query.getAll('command'), wantedStreams.tty);
      else await this.attach(streams, pod, container, wantedStreams.tty);
    } catch {
      // The protocol has been switched: there is no other way to report a failure.
      request.socket.destroy();
    }
  }

  private async exec(
    streams: CommandStreams,
    pod: WorkloadPod,
    container: Container,
    argv: readonly string[],
    tty: boolean,
  ): Promise<void> {
    const environment = await inSlices(environmentNow(pod, container, await this.worldOf(pod)), new Slices());
    await runFor(streams, argv, environment, { clock: this.options.clock, tty });
  }
  /** A command that reads its input is run for the client; of others it sees what they print from now on. */
  private async attach(streams: CommandStreams, pod: WorkloadPod, container: Container, tty: boolean): Promise<void> {
    const { clock } = this.options;
    if (container.stdin === true && argvOf(container).length > 0) {
      await this.sessions.attach(streams, pod, container, await this.atStart(pod, container), tty);
      return;
    }
    streams.onInput(() => {});
    const { startedAt } = runOf(pod, container, false);
    const options = { follow: true, previous: false, timestamps: false, tailLines: 0, limitBytes: undefined, since: undefined };
    const { namespace = '', name = '', uid } = pod.metadata;
    let exitCode = 0;
    await writeLog(
      await this.linesOf(pod, container, startedAt),
      options,
      { signal: streams.signal, write: (bytes) => streams.write('out', bytes) },
      {
        clock,
        endedAt: undefined,
        hasEnded: async () => {
          const now = await this.looks.recent(namespace, name);
          const status = now === undefined ? undefined : statusOf(now, container.name);
          exitCode = status?.state?.terminated?.exitCode ?? 0;
          return now?.metadata.uid !== uid || status?.state?.running == null;
        },
      },
    );
    if (!streams.signal.aborted) streams.finish(commandStatus(exitCode));
  }

  /** Agrees to switch to the protocol that the client wants. Undefined if it does not open its streams. */
  private async streams(request: UpgradeRequest, wantedStreams: StreamsWanted): Promise<CommandStreams | undefined> {
    const { req, socket, head } = request;
    const protocol = webProtocol(req, this.suffixes);
    if (protocol !== undefined)
      return acceptSocket(request, protocol, (webSocket) => new SocketStreams(webSocket, protocol, wantedStreams));
    acceptSpdy(req, socket, (name) => this.suffixes.some((suffix) => name === `v4.channel.${suffix}`));
    return spdyStreams(socket, head, wantedStreams, (call) => this.options.clock.after(STREAMS_MS, call));
  }

  private async forward(request: UpgradeRequest, { pod, query }: Question): Promise<void> {
    const { req, socket, head } = request;
    const targets = await this.targetsOf(pod);
    const protocol = webProtocol(req, this.suffixes);
    if (protocol === undefined) {
      acceptSpdy(req, socket, (name) => this.suffixes.some((suffix) => name === `portforward.${suffix}`));
      forwardSpdy(socket, head, targets);
      return;
    }
    const ports = (query.get('port') ?? '').split(',').map(Number);
    if (ports.length > PORTS_LIMIT || ports.some((port) => !(port >= 1 && port <= 65535)))
      throw new Refused(400, `port must be 1 to 65535, and at most ${PORTS_LIMIT} of them`);
    await acceptSocket(request, protocol, (webSocket) => forwardSocket(webSocket, protocol, ports, targets));
  }

  private async worldOf(pod: WorkloadPod): Promise<DiskWorld> {
    const { clock, random, disks } = this.options;
    const { namespace = '', name = '', uid = '' } = pod.metadata;
    return {
      disks,
      sources: await sourcesOf(this.options, pod),
      now: () => clock.now(),
      random: () => random.below(32768),
      wrote: () => disks.wrote({ namespace, name, uid }),
    };
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Refused(400, `${JSON.stringify(part)} is not encoded as a part of a path is`);
  }
}

function problemOf(error: unknown): { status: number; text: string } {
  if (error instanceof Refused) return { status: error.status, text: error.message };
  if (error instanceof NoLog || error instanceof TimeError) return { status: 400, text: error.message };
  if (error instanceof UnknownProgram || error instanceof NotSupported)
    return { status: 400, text: `cannot run the command: ${error.message}` };
  return { status: 500, text: `the simulated node failed: ${error instanceof Error ? error.message : String(error)}` };
}
function refuse(res: ServerResponse, error: unknown): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const { status, text } = problemOf(error);
  res.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' });
  res.end(text);
}
function refuseUpgrade(socket: Duplex, error: unknown): void {
  const { status, text } = problemOf(error);
  if (!socket.writable) return;
  const head = `HTTP/1.1 ${status} Error\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n`;
  socket.end(head + text);
}
