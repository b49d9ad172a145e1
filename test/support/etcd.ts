/** A real etcd for tests, on free loopback ports with a directory of its own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { issueClient, issueServing, newAuthority, readAuthority } from '../../src/lib/pki.ts';
import { temporaryDirectory } from '../../src/lib/temporary.testing.ts';
import { freePorts } from './free-ports.ts';

/** Why tests with etcd cannot run here; undefined: they can. */
export const etcdMissing: string | undefined = missing();

function missing(): string | undefined {
  try {
    execFileSync(binary(), ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'there is no etcd program here (Debian: etcd-server; ETCD_BINARY names another)';
  }
}

function binary(): string {
  return process.env.ETCD_BINARY ?? 'etcd';
}

export interface EtcdFixture {
  readonly endpoint: string;
  /** Process id; undefined while it does not run. */
  readonly pid: number | undefined;
  /** Present when it was started with TLS; etcd then demands the client's certificate. */
  readonly tls?: { readonly caFile: string; readonly certFile: string; readonly keyFile: string };
  /** Ends the process at once, as a crash would. */
  kill(): Promise<void>;
  /** Stops the process as if the machine hung, and lets it go on. */
  freeze(): void;
  thaw(): void;
  /** Starts it again on the same data and ports. `health`: waits until it is healthy, for which it may need the others. */
  start(health?: boolean): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

export interface EtcdFixtureOptions {
  readonly tls?: boolean;
  readonly flags?: readonly string[];
  /** Given the ports on which members listen for each other: those under which they are reached. */
  readonly peers?: (ports: readonly number[]) => Promise<readonly number[]>;
}

export async function startEtcd(options: EtcdFixtureOptions = {}): Promise<EtcdFixture> {
  const [member] = await startEtcdCluster(1, options);
  return member as EtcdFixture;
}

/** Members of one cluster, each of which can be killed and started by itself. */
export async function startEtcdCluster(size: number, options: EtcdFixtureOptions = {}): Promise<EtcdFixture[]> {
  const ports = await freePorts(3 * size);
  const members = Array.from({ length: size }, (_, index) => {
    const [client, peer, metrics] = ports.slice(3 * index, 3 * index + 3) as [number, number, number];
    return { name: `member${index}`, client, peer, metrics };
  });
  const listening = members.map(({ peer }) => peer);
  const reached = (await options.peers?.(listening)) ?? listening;
  const cluster = members.map(({ name }, index) => `${name}=http://127.0.0.1:${reached[index]}`).join(',');
  return Promise.all(members.map((member, index) => startMember(member, cluster, reached[index] as number, options)));
}

interface Member {
  readonly name: string;
  readonly client: number;
  readonly peer: number;
  readonly metrics: number;
}

async function startMember(
  member: Member,
  cluster: string,
  reached: number,
  { tls = false, flags = [] }: EtcdFixtureOptions,
): Promise<EtcdFixture> {
  const directory = temporaryDirectory('plat-etcd');
  const endpoint = `${tls ? 'https' : 'http'}://127.0.0.1:${member.client}`;
  const certificates = tls ? writeCertificates(directory) : undefined;
  const argv = [
    ['--name', member.name, '--data-dir', join(directory, 'data')],
    ['--listen-client-urls', endpoint, '--advertise-client-urls', endpoint],
    ['--listen-peer-urls', `http://127.0.0.1:${member.peer}`, '--initial-advertise-peer-urls', `http://127.0.0.1:${reached}`],
    ['--initial-cluster', cluster],
    ['--listen-metrics-urls', `http://127.0.0.1:${member.metrics}`],
    ['--log-level', 'error', '--logger', 'zap', '--enable-grpc-gateway=false'],
    // What a process wrote is there after it was killed, though no disk has it yet.
    ['--unsafe-no-fsync'],
    certificates === undefined ? [] : certificates.flags,
    flags,
  ].flat();
  let child: ChildProcess | undefined;
  const start = async (health = true) => {
    child = spawn(binary(), argv, { stdio: ['ignore', 'ignore', 'pipe'] });
    if (health) await healthy(child, member.metrics);
    else child.stderr?.resume();
  };
  const kill = async () => {
    const ending = child;
    child = undefined;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    await new Promise((resolve) => {
      ending.once('exit', resolve);
      ending.kill('SIGKILL');
    });
  };
  await start();
  return {
    endpoint,
    get pid() {
      return child?.pid;
    },
    ...(certificates === undefined ? {} : { tls: certificates.files }),
    kill,
    freeze() {
      child?.kill('SIGSTOP');
      untilStopped(child?.pid);
    },
    thaw: () => void child?.kill('SIGCONT'),
    start,
    stop: async () => {
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A signal is noticed by the threads of a process one after the other, on a busy machine late: until then one of them may answer. */
function untilStopped(pid: number | undefined): void {
  const tasks = `/proc/${pid}/task`;
  if (pid === undefined || !existsSync(tasks)) return;
  const isStopped = (task: string): boolean => / T \d/.test(readFileSync(join(tasks, task, 'stat'), 'utf8').replace(/^.*\)/, ''));
  while (!readdirSync(tasks).every(isStopped)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}

async function healthy(child: ChildProcess, port: number): Promise<void> {
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4_000);
  });
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; ) {
    if (child.exitCode !== null) break;
    try {
      const response = await fetch(`http://127.0.0.1:${port}/health`);
      if (response.ok && (await response.text()).includes('true')) return;
    } catch {
      // It does not listen yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  child.kill('SIGKILL');
  throw new Error(`etcd did not start: ${said}`);
}

function writeCertificates(directory: string) {
  const now = Date.now();
  const authority = newAuthority('etcd test authority', now);
  const issuer = readAuthority(authority);
  const serving = issueServing(issuer, { commonName: 'etcd', addresses: ['127.0.0.1'], dns: ['localhost'] }, now);
  const client = issueClient(issuer, 'plat', [], now);
  const write = (name: string, content: string): string => {
    const path = join(directory, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  const caFile = write('ca.crt', authority.certificate);
  return {
    files: { caFile, certFile: write('client.crt', client.certificate), keyFile: write('client.key', client.key) },
    flags: [
      ...['--cert-file', write('server.crt', serving.certificate)],
      ...['--key-file', write('server.key', serving.key)],
      ...['--trusted-ca-file', caFile, '--client-cert-auth'],
    ],
  };
}
