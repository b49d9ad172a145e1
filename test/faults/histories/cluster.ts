/** Three servers on three members of etcd, with everything between them in our hands. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EtcdFixture, startEtcdCluster } from '../../support/etcd.ts';
import { provideSigningKey } from '../../support/signing-key.ts';
import { startProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { Api } from '../api.ts';
import { PeerNetwork } from './network.ts';

export const MEMBERS = 3;
export const SERVERS = 3;
const TOKEN = 'histories-token';
const START_MS = 60_000;

export interface ClusterOptions {
  readonly directory: string;
  readonly program: string;
  /** Path of clock.cjs. */
  readonly clock: string;
}

export class Server {
  readonly index: number;
  /** To each member of etcd. */
  readonly links: readonly TcpProxy[];
  readonly #options: ClusterOptions;
  readonly #directory: string;
  #child: ChildProcess | undefined;
  #api: Api | undefined;
  #life = 0;
  #output = '';

  constructor(index: number, links: readonly TcpProxy[], options: ClusterOptions) {
    this.index = index;
    this.links = links;
    this.#options = options;
    this.#directory = join(options.directory, `server${index}`);
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    // It takes longer to make than a start, and no fault is about it.
    provideSigningKey(join(this.#directory, 'data'));
    writeFileSync(join(this.#directory, 'tokens.csv'), `${TOKEN},histories,histories-uid,"system:masters"\n`, { mode: 0o600 });
  }

  /** Undefined while it does not run. */
  get api(): Api | undefined {
    return this.#api;
  }
  /** Names this process: a server that was started again is another. */
  get name(): string {
    return `server${this.index}.${this.#life}`;
  }

  async start(): Promise<void> {
    const endpoints = this.links.map(({ port }) => `http://127.0.0.1:${port}`).join(',');
    const args = ['--store', 'etcd', '--etcd-servers', endpoints, '--identity', 'kubernetes', '--secure-port', '0'];
    const files = ['--data-dir', join(this.#directory, 'data'), '--token-auth-file', join(this.#directory, 'tokens.csv')];
    const more = ['--history-retention', '6h', '--runtime-config', 'explain.k8s.io/v1alpha1=true', '--request-timeout', '10s'];
    const env = { ...process.env, PLAT_CLOCK_FILE: join(this.#directory, 'clock') };
    const node = ['--require', this.#options.clock];
    const child = spawn(process.execPath, [...node, this.#options.program, 'server', ...args, ...files, ...more], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#output = '';
    const address = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`a server did not start: ${this.#output}`)), START_MS);
      const read = (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-4_000);
        const found = /ready at (https:\/\/\S+)/.exec(this.#output)?.[1];
        if (found === undefined) return;
        clearTimeout(timer);
        resolve(found);
      };
      child.stdout?.on('data', read);
      child.stderr?.on('data', read);
      child.once('exit', (code, signal) => {
        clearTimeout(timer);
        reject(new Error(`a server ended with ${code ?? signal}: ${this.#output}`));
      });
    });
    this.#life++;
    this.#api = new Api(address, TOKEN);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#api?.close();
    this.#api = undefined;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    await new Promise((resolve) => {
      child.once('exit', resolve);
      child.kill('SIGKILL');
    });
  }
  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }
  thaw(): void {
    this.#child?.kill('SIGCONT');
  }
  /** Sets its clock off by this much. */
  shiftClock(ms: number): void {
    writeFileSync(join(this.#directory, 'clock'), String(ms));
    this.#child?.kill('SIGUSR2');
  }
  /** How it ended, when it did so by itself. */
  get crashed(): string | undefined {
    const child = this.#child;
    return child !== undefined && this.#api !== undefined && child.exitCode !== null ? this.#output : undefined;
  }
}

export interface Cluster {
  readonly members: readonly EtcdFixture[];
  readonly network: PeerNetwork;
  readonly servers: readonly Server[];
  stop(): Promise<void>;
}

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  let members: EtcdFixture[] = [];
  const network = new PeerNetwork((index) => members[index]?.pid);
  members = await startEtcdCluster(MEMBERS, { peers: (ports) => network.start(ports) });
  const proxies: TcpProxy[] = [];
  const servers: Server[] = [];
  const stop = async () => {
    await Promise.all(servers.map((server) => server.kill()));
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await Promise.all(members.map((member) => member.stop()));
    network.close();
  };
  try {
    for (let index = 0; index < SERVERS; index++) {
      const links = await Promise.all(members.map(({ endpoint }) => startProxy(Number(new URL(endpoint).port))));
      proxies.push(...links);
      const server = new Server(index, links, options);
      servers.push(server);
      await server.start();
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { members, network, servers, stop };
}
