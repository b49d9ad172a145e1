/** A real etcd for tests, on free loopback ports with a directory of its own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { issue, issueClient, newAuthority, newKeyPair, noNames, privateKeyPem, readAuthority } from '../../packages/pki/src/index.ts';
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

export interface EtcdCertificates {
  readonly caFile: string;
  /** Of a client. */
  readonly certFile: string;
  readonly keyFile: string;
  /** Flags of members. */
  readonly flags: readonly string[];
}

export interface EtcdFixture {
  readonly name: string;
  readonly endpoint: string;
  /** Where the other members reach it. */
  readonly peer: string;
  /** Process id; undefined while it does not run. */
  readonly pid: number | undefined;
  /** Present when it was started with TLS; etcd then demands the client's certificate. */
  readonly tls?: EtcdCertificates;
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
  /** Clients and members show certificates to each other. */
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
  const certificates = options.tls === true ? writeCertificates(temporaryDirectory('plat-etcd-pki')) : undefined;
  const peerOf = (index: number): string => `${schemeOf(certificates)}://127.0.0.1:${reached[index]}`;
  const cluster = members.map(({ name }, index) => `${name}=${peerOf(index)}`).join(',');
  const { flags = [] } = options;
  return Promise.all(
    members.map((member, index) => startMember({ ...member, advertised: peerOf(index) }, { cluster, certificates, flags })),
  );
}

/** A new member in the place of one that is lost: `cluster` and `flags` as `etcdctl member add` prints them. */
export async function startReplacement(
  lost: EtcdFixture,
  cluster: string,
  certificates: EtcdCertificates | undefined,
): Promise<EtcdFixture> {
  const [metrics] = await freePorts(1);
  const portOf = (url: string): number => Number(new URL(url).port);
  const member = { name: `${lost.name}b`, client: portOf(lost.endpoint), peer: portOf(lost.peer), metrics: metrics as number };
  return startMember({ ...member, advertised: lost.peer }, { cluster, certificates, flags: ['--initial-cluster-state', 'existing'] });
}

const schemeOf = (certificates: EtcdCertificates | undefined): string => (certificates === undefined ? 'http' : 'https');

interface Member {
  readonly name: string;
  readonly client: number;
  readonly peer: number;
  readonly metrics: number;
}
interface MemberOptions {
  readonly cluster: string;
  readonly certificates: EtcdCertificates | undefined;
  readonly flags: readonly string[];
}

async function startMember(
  member: Member & { readonly advertised: string },
  { cluster, certificates, flags }: MemberOptions,
): Promise<EtcdFixture> {
  const directory = temporaryDirectory('plat-etcd');
  const endpoint = `${schemeOf(certificates)}://127.0.0.1:${member.client}`;
  const argv = [
    ['--name', member.name, '--data-dir', join(directory, 'data')],
    ['--listen-client-urls', endpoint, '--advertise-client-urls', endpoint],
    ['--listen-peer-urls', `${schemeOf(certificates)}://127.0.0.1:${member.peer}`, '--initial-advertise-peer-urls', member.advertised],
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
    name: member.name,
    endpoint,
    peer: member.advertised,
    get pid() {
      return child?.pid;
    },
    ...(certificates === undefined ? {} : { tls: certificates }),
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
  for (const deadline = Date.now() + 90_000; Date.now() < deadline; ) {
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

function writeCertificates(directory: string): EtcdCertificates {
  const now = Date.now();
  const authority = newAuthority('etcd test authority', now);
  const issuer = readAuthority(authority);
  const { privateKey, publicKey } = newKeyPair();
  // Members are servers and clients of each other.
  const serving = issue(issuer, {
    subject: { commonName: 'etcd', organizations: [] },
    publicKey,
    names: { ...noNames, dns: ['localhost'], addresses: ['127.0.0.1'] },
    usages: ['digitalSignature', 'keyEncipherment'],
    extendedUsages: ['serverAuth', 'clientAuth'],
    notBefore: now - 60_000,
    notAfter: now + 24 * 3600 * 1000,
  });
  const client = issueClient(issuer, 'plat', [], now);
  const write = (name: string, content: string): string => {
    const path = join(directory, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  const caFile = write('ca.crt', authority.certificate);
  const [certificate, key] = [write('server.crt', serving), write('server.key', privateKeyPem(privateKey))];
  return {
    caFile,
    certFile: write('client.crt', client.certificate),
    keyFile: write('client.key', client.key),
    flags: [
      ...['--cert-file', certificate, '--key-file', key, '--trusted-ca-file', caFile, '--client-cert-auth'],
      ...['--peer-cert-file', certificate, '--peer-key-file', key, '--peer-trusted-ca-file', caFile, '--peer-client-cert-auth'],
    ],
  };
}
