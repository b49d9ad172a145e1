/** `plat logs`: prints the logs of containers, once or following. */
import { StringDecoder } from 'node:string_decoder';
import { queryOf } from '@plat-dev/client/dynamic';
import { errorOf } from '@plat-dev/client/transport';
import { bool, duration, FlagError, type FlagValues, flag, int, text } from '@plat-dev/lib/flags';
import { canonicalTime } from '@plat-dev/lib/time';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { namespaceFlag } from '../objects/object-flags.ts';
import { isStock } from '../program.ts';
import { type Work, withServer } from '../work.ts';
import { chosenContainer, containersOf, type Pod, podPath, podsLabelled, podsOf } from './select-pods.ts';

const table = {
  Containers: {
    namespace: namespaceFlag,
    container: text('', 'The container.', { short: 'c', value: 'NAME', defaultText: 'the one that the pod names, else its first' }),
    'all-containers': bool(false, 'Print the logs of all containers of the pod.'),
    'all-pods': bool(false, 'Print the logs of all pods of a workload, with prefixes.'),
    selector: text('', 'Print the logs of the pods that match this label selector.', { short: 'l', value: 'QUERY' }),
    'max-log-requests': int(5, 'Maximum number of logs to follow.', { min: 1 }),
    'pod-running-timeout': duration('20s', 'Time to wait until a workload has a pod.'),
  },
  Log: {
    follow: bool(false, 'Follow the log.', { short: 'f' }),
    previous: bool(false, 'Print the log of the previous instance of the container.', { short: 'p' }),
    since: duration('0s', 'Print lines newer than this age: 5m, 2h.', { defaultText: '' }),
    'since-time': flag('', 'Print lines after this time: 2024-05-01T12:00:00Z.', 'TIME', (t) => (t === '' ? '' : canonicalTime(t))),
    tail: int(-1, 'Number of last lines to print; -1 is all.', { min: -1, defaultText: 'all, with --selector 10' }),
    'limit-bytes': int(0, 'Maximum bytes of each log; 0 is unlimited.'),
    timestamps: bool(false, 'Prefix each line with its timestamp.'),
    prefix: bool(false, 'Prefix each line with its pod and container.'),
    'ignore-errors': bool(false, 'Continue when the log of one container cannot be read.'),
    'insecure-skip-tls-verify-backend': bool(false, 'Do not verify the certificate of the node.'),
  },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;
const TAIL_OF_MANY = 10;

export const logs = command({
  usage: 'POD [CONTAINER] | TYPE/NAME | -l QUERY [flags]',
  summary: 'Print the logs of containers.',
  flags: table,
  more: `
Examples:
  plat logs web
  plat logs -f deployment/web --since=5m
  plat logs -l app=web --all-containers --tail=20 --prefix

Exit codes:
  0   all logs were printed
  1   a log could not be read, or the connection was lost
  2   the command line is wrong
`,
  async run({ options, args }, io) {
    const [target, container, more] = args;
    check(options, target, container);
    if (more !== undefined) throw new FlagError(`too many arguments: ${JSON.stringify(more)}`);
    return withServer(options, io, (work) => new Logs(work, { ...options, container: container ?? options.container }).run(target));
  },
});

function check(options: Options, target: string | undefined, container: string | undefined): void {
  if (target === undefined && options.selector === '') {
    throw new FlagError('pod missing. For example: plat logs web, plat logs deployment/web, plat logs -l app=web');
  }
  if (target !== undefined && options.selector !== '') throw new FlagError('a name and --selector exclude each other');
  if (options.since > 0 && options.sinceTime !== '') throw new FlagError('--since and --since-time exclude each other');
  if (container !== undefined && options.container !== '') throw new FlagError('the container is named twice');
  if (options.allContainers && (options.container !== '' || container !== undefined)) {
    throw new FlagError('a container and --all-containers exclude each other');
  }
  if (options.since % 1000 !== 0) throw new FlagError('--since: whole seconds only');
}

interface Source {
  readonly pod: string;
  readonly container: string;
}

class Logs {
  private readonly work: Work;
  private readonly options: Options;
  private failed = false;

  constructor(work: Work, options: Options) {
    this.work = work;
    this.options = options;
  }
  async run(target: string | undefined): Promise<number> {
    const pods = target === undefined ? await podsLabelled(this.work, this.options.selector) : await this.podsOf(target);
    if (pods.length === 0) this.work.io.err(`plat: there is no pod with these labels in ${this.work.namespace}\n`);
    const sources = pods.flatMap((pod) => this.sources(pod));
    const { follow, maxLogRequests } = this.options;
    if (follow && sources.length > maxLogRequests) {
      throw new FlagError(`${sources.length} logs are more than ${maxLogRequests}: choose fewer, or raise --max-log-requests`);
    }
    if (follow) await Promise.all(sources.map((source) => this.show(source)));
    else for (const source of sources) await this.show(source);
    return this.failed ? 1 : 0;
  }
  private async podsOf(target: string): Promise<Pod[]> {
    const pods = await podsOf(this.work, target, this.options.podRunningTimeout);
    if (pods.length > 1 && !this.options.allPods) {
      const more = isStock(this.work.io) ? '' : '; --all-pods shows all';
      this.work.io.err(`Found ${pods.length} pods, using pod/${pods[0]?.metadata.name}${more}\n`);
      return pods.slice(0, 1);
    }
    return pods;
  }
  private sources(pod: Pod): Source[] {
    const names = this.options.allContainers
      ? containersOf(pod).map(({ name }) => name)
      : [chosenContainer(this.work, pod, this.options.container)];
    return names.map((container) => ({ pod: pod.metadata.name, container }));
  }

  private async show(source: Source): Promise<void> {
    try {
      await this.copy(source);
    } catch (error) {
      if (this.work.signal.aborted || !this.options.ignoreErrors) throw error;
      this.failed = true;
      this.work.io.err(`plat: pod/${source.pod}/${source.container}: ${(error as Error).message}\n`);
    }
  }
  private async copy({ pod, container }: Source): Promise<void> {
    const { options, work } = this;
    const { transport, timeout } = work.session;
    const path = `${podPath(work.namespace, pod)}/log?${this.query(container)}`;
    const answer = await transport.open({ path, signal: work.signal, ...(options.follow ? {} : timeout) });
    if (answer.status >= 300) throw await errorOf(answer);
    const prefix = options.prefix || options.allPods ? `[pod/${pod}/${container}] ` : '';
    const lines = new WholeLines(prefix, (text) => work.io.out(text));
    try {
      for await (const chunk of answer.body) lines.push(chunk as Buffer);
    } catch (error) {
      lines.end();
      if (work.signal.aborted) throw error;
      throw new Error(`the log of pod/${pod}/${container} was interrupted: ${(error as Error).message}`);
    }
    lines.end();
  }
  private query(container: string): string {
    const { options } = this;
    const tail = options.tail === -1 && options.selector !== '' ? TAIL_OF_MANY : options.tail;
    return queryOf({
      container,
      follow: options.follow || undefined,
      previous: options.previous || undefined,
      sinceSeconds: options.since > 0 ? options.since / 1000 : undefined,
      sinceTime: options.sinceTime,
      tailLines: tail < 0 ? undefined : tail,
      limitBytes: options.limitBytes > 0 ? options.limitBytes : undefined,
      timestamps: options.timestamps || undefined,
      insecureSkipTLSVerifyBackend: options.insecureSkipTlsVerifyBackend || undefined,
    });
  }
}

/** A line that is longer goes out in pieces. */
const LINE_LIMIT = 1 << 20;

/** Lines of several logs do not mix: each goes out whole. One log alone goes out as it comes. */
export class WholeLines {
  private readonly prefix: string;
  private readonly out: (text: string) => void;
  private readonly decoder = new StringDecoder();
  private rest = '';

  constructor(prefix: string, out: (text: string) => void) {
    this.prefix = prefix;
    this.out = out;
  }
  push(chunk: Buffer): void {
    const text = this.rest + this.decoder.write(chunk);
    const end = text.lastIndexOf('\n') + 1;
    this.rest = text.slice(end);
    if (end > 0) this.out(this.prefixed(text.slice(0, end)));
    if (this.rest.length > LINE_LIMIT) this.end();
  }
  end(): void {
    const text = this.rest + this.decoder.end();
    this.rest = '';
    if (text !== '') this.out(this.prefixed(text));
  }
  private prefixed(text: string): string {
    return this.prefix === '' ? text : text.replace(/^(?=[^\n]|\n)/gm, this.prefix);
  }
}
