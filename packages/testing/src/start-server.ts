/** The server behind a `TestServer`, and how it is put together. */

import { Client } from '@plat-dev/client/dynamic';
import { errorFrom, type Http } from '@plat-dev/client/http';
import { type ServerOptions, serverOptions } from '@plat-dev/compose/config/server-options';
import { prepareCredentials } from '@plat-dev/compose/credentials/credentials';
import { type ComposedServer, composeServer, type Surroundings } from '@plat-dev/compose/server';
import { resetTo, stateOf } from '@plat-dev/compose/server-state';
import type { ServerState } from '@plat-dev/compose/store/snapshot-state';
import { silentLog } from '@plat-dev/lib/log';
import { inNextTurn, nextTurn } from '@plat-dev/lib/next-turn';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { identityOf } from '@plat-dev/meta/identity-file';
import { firstAddress } from '@plat-dev/meta/ip';
import type { KeyFiles } from '@plat-dev/pki';
import type { JsonObject } from '@plat-dev/schema/types';
import { stringifyYaml } from '@plat-dev/schema/yaml';
import type { User } from '@plat-dev/server/auth/types';
import type { RequestChoice, TestAnswer, TestFetchInit } from './answers.ts';
import { BinaryForm } from './binary.ts';
import { testClient } from './client/client.ts';
import type { ClientOptions, TestClient } from './client/types.ts';
import { ControlledClock, clockOf, clockOfFork } from './clock.ts';
import type { Faults } from './faults.ts';
import { install } from './install.ts';
import { Instruments } from './instruments.ts';
import { KeepAlive } from './keep-alive.ts';
import { keysAt, type ServedAt, testKeys } from './keys.ts';
import { type Kubeconfig, kubeconfigOf } from './kubeconfig.ts';
import { serverOptionsOf, type TestServerOptions } from './options.ts';
import type { ObjectChange, ObjectReference, RequestList } from './requests.ts';
import { stateFor, TakenSnapshot } from './snapshot.ts';
import type { ForkOptions, Snapshot, TestServer } from './test-server.ts';
import { TestTransport } from './transport.ts';
import { userOf } from './users.ts';
import { type Why, whyOf } from './why.ts';

const USER_AGENT = 'test';

/** `around`: further options of the server. */
export async function startWith(options: TestServerOptions, around: Surroundings = {}): Promise<TestServer> {
  const startOptions = serverOptions(serverOptionsOf(options));
  const identity = identityOf(startOptions.identity);
  const keys = around.keys ?? (await testKeys(identity, servedAt(startOptions)));
  const { log = silentLog, random } = options;
  const hooks = new Instruments();
  const clock = clockOf(options.clock);
  const surroundings = { log, keys, hooks, ...(clock !== undefined && { clock }), ...(random !== undefined && { random }), ...around };
  const composed = await composeServer(startOptions, surroundings, options.listen === true).catch((error: unknown) => {
    hooks.close();
    throw error;
  });
  return new RunningTestServer(composed, options, hooks, keys);
}

const servedAt = ({ bindAddress, serviceClusterIpRange }: ServerOptions): ServedAt => ({
  bindAddress,
  serviceAddress: firstAddress(serviceClusterIpRange[0] as string),
});

class RunningTestServer implements TestServer {
  private readonly composed: ComposedServer;
  private readonly transport: TestTransport;
  private readonly options: TestServerOptions;
  private readonly instruments: Instruments;
  private readonly keys: KeyFiles;
  readonly clock: ControlledClock;
  private readonly keepAlive = new KeepAlive();
  /** Watches and informers of its clients. */
  private readonly toStop = new Set<{ stop(): void }>();
  private closed = false;

  constructor(composed: ComposedServer, options: TestServerOptions, instruments: Instruments, keys: KeyFiles) {
    this.composed = composed;
    this.options = options;
    this.instruments = instruments;
    this.keys = keys;
    instruments.begin({ engine: composed.state.engine, clock: composed.base.clock, isBusy: composed.isBusy });
    this.clock = new ControlledClock(composed.base.clock, instruments.activity);
    this.transport = new TestTransport(composed.requests.handlerForClients(), this.keepAlive);
  }
  get identity(): Identity {
    return this.composed.base.identity;
  }
  get url(): string {
    const { listening } = this.composed;
    if (listening === undefined) throw new Error('the test server has no port: start it with { listen: true }');
    return listening.address;
  }
  get ended(): Promise<Error | undefined> {
    return this.composed.ended;
  }
  request(method: string, path: string, choice?: RequestChoice): Promise<TestAnswer> {
    return this.transport.request(method, path, choice);
  }
  fetch(input: string | URL | Request, init?: TestFetchInit): Promise<Response> {
    return this.transport.fetch(input, init);
  }
  client(user?: string, groups?: readonly string[], { binary = false }: ClientOptions = {}): TestClient {
    const { identity, clock, random, log } = this.composed.base;
    return testClient({
      identity,
      client: this.dynamicClient(userOf(user, groups), binary),
      clock,
      keepAlive: this.keepAlive,
      history: (object) => this.history(object),
      spread: () => random.float(),
      fieldManager: 'test',
      report: (error) => log.warn('test informer cannot list or watch', { error: String(error) }),
      stopLater: (what) => {
        // A client may outlive its server: its watches and informers then end at once.
        if (this.closed) inNextTurn(() => what.stop());
        this.toStop.add(what);
        return () => this.toStop.delete(what);
      },
    });
  }
  private dynamicClient(user: User, binary = false): Client {
    return new Client(this.httpOf(user, binary), { userAgent: USER_AGENT, metadataGroup: groupName(this.identity, 'meta') });
  }
  private httpOf(user: User, binary: boolean): Http {
    if (!binary) return this.transport.http(user);
    const form = new BinaryForm(this.identity, this.composed.base.kinds);
    return form.over(this.transport.http(user, (status, body) => errorFrom(status, form.received(body))));
  }
  kubeconfig(user?: string, groups?: readonly string[]): Kubeconfig {
    return kubeconfigOf({ identity: this.identity, url: this.url, credentials: this.composed.credentials }, userOf(user, groups));
  }
  kubeconfigText(user?: string, groups?: readonly string[]): string {
    return stringifyYaml(this.kubeconfig(user, groups) as unknown as JsonObject);
  }
  async snapshot(): Promise<Snapshot> {
    await this.settled();
    const state = await stateOf(this.composed);
    const now = this.clock.now();
    return new TakenSnapshot(state, this.identity, async (options) => {
      const clock = options.clock === undefined && clockOfFork(this.composed.base.clock, now);
      const all = { ...this.options, ...withoutUndefined(options), ...(clock && { clock }) };
      const fork = await startWith(all, options.server === undefined ? { from: state } : await this.withOwnCredentials(all, state, now));
      return install(fork, options);
    });
  }
  /** For a fork with options of its own, which may concern credentials: the same keys, with a new serving certificate. */
  private async withOwnCredentials(options: TestServerOptions, state: ServerState, now: number): Promise<Surroundings> {
    const forkedOptions = serverOptions(serverOptionsOf(options));
    const keys = await keysAt(this.keys, this.identity, servedAt(forkedOptions));
    return { keys, from: { ...state, credentials: await prepareCredentials(forkedOptions, this.identity, now, keys) } };
  }
  get faults(): Faults {
    return this.instruments.faults;
  }
  get requests(): RequestList {
    return this.instruments.requests;
  }
  history(object: ObjectReference): ObjectChange[] {
    return this.instruments.requests.history(object);
  }
  why(user?: string, groups?: readonly string[]): Why {
    const send = (method: string, path: string, choice?: RequestChoice) => this.request(method, path, { ...choice, user, groups });
    return whyOf(this.dynamicClient(userOf(user, groups)), send, this.identity);
  }
  settled(): Promise<void> {
    return this.instruments.activity.settled();
  }
  async reset(snapshot: Snapshot): Promise<void> {
    // Controllers must not apply work in progress to the restored objects.
    await this.settled();
    await resetTo(this.composed, stateFor(this.identity, snapshot));
    await this.settled();
  }
  async close(): Promise<void> {
    const { requests } = this.composed;
    requests.shuttingDown();
    requests.endStreams();
    // Their last bytes are sent first.
    await nextTurn();
    this.closed = true;
    for (const what of [...this.toStop]) what.stop();
    this.transport.close();
    this.keepAlive.close();
    this.clock.close();
    this.instruments.close();
    await this.composed.abort();
  }
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Without the options that are undefined: these count as not given. */
const withoutUndefined = (options: ForkOptions): ForkOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
