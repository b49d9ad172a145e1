/**
 * A server as a value: `startServer` makes one of options, and what it answers ends all of it. Nothing here is of the process:
 * several servers live in one, each with its own store, clock and log.
 *
 *   const server = await startServer({ store: 'memory', securePort: 0 });
 *   …
 *   await server.close();
 *
 * Its parts begin in this order, and end in the reverse of it, when it stops and when one of them cannot start:
 *
 *   credentials → state (store, encryption, cache) → access (files, trust, auth, admission) → requests (surface, first objects,
 *   definitions, aggregation, flows, audit, streams) → listeners → announcement → background (controllers) → readiness
 */

import type { Running } from '@plat-dev/controllers/runtime/manager';
import { type Clock, fasterClock, systemClock } from '@plat-dev/lib/clock';
import { type Log, openLog } from '@plat-dev/lib/log';
import { Metrics } from '@plat-dev/lib/metrics';
import { inNextTurn } from '@plat-dev/lib/next-turn';
import { type Random, systemRandom } from '@plat-dev/lib/random';
import { apiRelease } from '@plat-dev/lib/version';
import type { Identity } from '@plat-dev/meta/identity';
import { identityOf } from '@plat-dev/meta/identity-file';
import type { KeyFiles } from '@plat-dev/pki';
import { signLegacy } from '@plat-dev/server/auth/service-account/claims';
import type { Authorizer } from '@plat-dev/server/auth/types';
import { withDescriptors } from '@plat-dev/server/connections/descriptors';
import { openEngine } from '@plat-dev/storage/engines/index';
import { ContainerFiles } from '@plat-dev/workloads/nodes/container-files';
import { KEPT_DISKS } from '@plat-dev/workloads/nodes/settings';
import { checkPlugins, kindsOf } from './api-release.ts';
import { composeControllers } from './background/controllers.ts';
import type { Base } from './base.ts';
import { checkRuntimeConfig } from './config/check-runtime-config.ts';
import { registerGates } from './config/gate-report.ts';
import { type GivenOptions, serverOptions } from './config/server-options.ts';
import { composeConsole } from './console/console.ts';
import { type Credentials, prepareCredentials } from './credentials/credentials.ts';
import { announce, composeListeners, reachable } from './listeners.ts';
import { Parts } from './parts.ts';
import { type Access, composeAccess } from './requests/access.ts';
import type { RequestHooks } from './requests/request-hooks.ts';
import { composeRequests, type Requests } from './requests/requests.ts';
import { openCopyOf } from './server-state.ts';
import { composeState, type OpenStore, type State } from './state.ts';
import { checkHistory } from './store/history.ts';
import type { ServerState } from './store/snapshot-state.ts';

export interface RunningServer {
  /** `https://127.0.0.1:6443` */
  readonly address: string;
  readonly port: number;
  readonly identity: Identity;
  /** Client configuration of the administrator, and the file it is in; undefined for a server that keeps nothing on disk. */
  readonly adminConfig: string;
  readonly adminConfigPath: string | undefined;
  /** Opens the console in a browser, logged in as the administrator: once, within five minutes. Undefined without a console. */
  readonly consoleLink: string | undefined;
  /** Resolves when the server has stopped: with the error after a failure, else with undefined. */
  readonly ended: Promise<Error | undefined>;
  /** Ends gracefully: fails readiness, ends watches, lets requests finish, closes the store. */
  close(): Promise<void>;
  /** Ends at once: connections are cut, then everything is closed. */
  abort(): Promise<void>;
}

/** The environment of a server; every part has a default. */
export interface Surroundings {
  readonly clock?: Clock | undefined;
  readonly random?: Random | undefined;
  readonly log?: Log | undefined;
  /** Keys and certificates of a server that keeps nothing on disk: those that are missing are made and added. */
  readonly keys?: KeyFiles | undefined;
  /** Opens the store that options name. */
  readonly openStore?: OpenStore | undefined;
  /** Called with the name of each part before it starts; may throw, for tests of starts that fail. */
  readonly starting?: ((part: string) => void) | undefined;
  readonly hooks?: RequestHooks | undefined;
  /** Returns what is asked instead of the authorizer that options name, for tests that record its questions. */
  readonly wrapAuthorizer?: ((authorizer: Authorizer) => Authorizer) | undefined;
  /** The folder of the console's files, instead of the one that `npm run build` makes. */
  readonly consoleFiles?: string | undefined;
  /** The initial state: that of another server of the same identity, whose store is in memory. */
  readonly from?: ServerState | undefined;
}

/** Where a server listens. */
export interface Listening {
  readonly address: string;
  readonly port: number;
  readonly adminConfig: string;
  readonly consoleLink: string | undefined;
}

/** A server with its parts, for those who run it within their own program. */
export interface ComposedServer {
  readonly base: Base;
  readonly state: State;
  readonly access: Access;
  readonly requests: Requests;
  readonly credentials: Credentials;
  /** Undefined for a server that has no port. */
  readonly listening: Listening | undefined;
  /** Whether requests, custom kinds or controllers have work to do now, or a controller retries within so many milliseconds. */
  readonly isBusy: (retryMs: number) => boolean;
  readonly ended: Promise<Error | undefined>;
  close(): Promise<void>;
  abort(): Promise<void>;
}

export async function startServer(givenOptions: GivenOptions = {}, surroundings: Surroundings = {}): Promise<RunningServer> {
  const { base, credentials, listening, ended, close, abort } = await composeServer(givenOptions, surroundings, true);
  const { adminConfigPath } = credentials;
  return { ...(listening as Listening), identity: base.identity, adminConfigPath, ended, close, abort };
}

/** Starts a server; without a port where it does not listen. */
export async function composeServer(givenOptions: GivenOptions, surroundings: Surroundings, listens: boolean): Promise<ComposedServer> {
  const options = serverOptions(givenOptions);
  const identity = identityOf(options.identity);
  const kinds = await kindsOf(identity, options);
  checkRuntimeConfig(options.runtimeConfig, identity, kinds);
  checkPlugins(options);
  checkHistory(options, identity);
  const { clock = systemClock, random = systemRandom, starting, hooks, wrapAuthorizer, from, consoleFiles } = surroundings;
  const openStore = surroundings.openStore ?? (from === undefined ? openEngine : openCopyOf(from));
  const log = surroundings.log ?? openLog({ format: options.logFormat, verbosity: options.v, now: () => clock.now() });
  const metrics = new Metrics({
    version: apiRelease,
    showHiddenFor: options.showHiddenMetricsForVersion,
    warn: (metric, deprecatedSince) => log.warn('deprecated metric is exposed', { metric, deprecatedSince }),
  });
  registerGates(metrics, options.features);
  const parts = new Parts(starting);
  const ending = new Ending(parts, log);
  const objectClock = fasterClock(clock, options.timeFactor);
  const base: Base = {
    options,
    identity,
    kinds,
    clock,
    objectClock,
    random,
    log,
    metrics,
    disks: new ContainerFiles(KEPT_DISKS),
    parts,
    hooks,
    wrapAuthorizer,
    from,
    consoleFiles,
    fail: ending.fail,
  };
  // Keys are made while the store is opened; a store that cannot be opened is the first thing to report.
  const exhausted = (error: unknown): void => log.warn('no file descriptors are free, waiting', { error: String(error) });
  const prepare = async () => from?.credentials ?? prepareCredentials(options, identity, clock.now(), surroundings.keys);
  const preparing = withDescriptors(prepare, exhausted, clock);
  preparing.catch(() => {});
  try {
    const state = await composeState(base, openStore);
    return await serve(base, state, await preparing, ending, listens);
  } catch (error) {
    await preparing.catch(() => {});
    // The error of the start is what matters, not those of closing its parts.
    await parts.close(true).catch((second: unknown) => log.error('cannot close all parts of the server', { error: String(second) }));
    throw ending.reason ?? error;
  }
}

async function serve(base: Base, state: State, credentials: Credentials, ending: Ending, listens: boolean): Promise<ComposedServer> {
  const { options, parts } = base;
  let port = 0;
  const host = reachable(options.bindAddress);
  const access = await composeAccess(base, state, credentials);
  const requests = await composeRequests(base, state, access, credentials, () => `${options.advertiseAddress ?? host}:${port}`);
  let listening: Listening | undefined;
  if (listens) {
    const webConsole = composeConsole(base, access, requests);
    port = await composeListeners(base, access, requests, webConsole?.handle ?? requests.handle);
    const address = `https://${host}:${port}`;
    const config = credentials.adminConfig(address);
    await allDone(announce(base, state, access, credentials, port), config);
    listening = { address, port, adminConfig: await config, consoleLink: webConsole?.link(address) };
  } else parts.add('streams of clients', () => requests.endStreams());
  const isWorking = await composeBackground(base, state, credentials, requests);
  parts.add('readiness', async (hurry) => {
    requests.shuttingDown();
    if (options.shutdownDelayDuration > 0) await base.clock.sleep(options.shutdownDelayDuration, hurry).catch(() => {});
  });
  const { ended } = ending;
  return {
    base,
    state,
    access,
    requests,
    credentials,
    listening,
    isBusy: (retryMs) => requests.isBusy() || isWorking(retryMs),
    ended,
    close: () => ending.close(),
    abort: () => ending.close(true),
  };
}

/** Throws the first error when all are settled: no work may be in progress after a failed start. */
async function allDone(...work: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(work);
  await Promise.all(work);
}

/** Work that begins after the server has reported that it is ready: most requests can be answered without it. */
async function composeBackground(
  base: Base,
  { engine, catalog, cache }: State,
  credentials: Credentials,
  { handleInProcess }: Requests,
): Promise<(retryMs: number) => boolean> {
  const { identity, parts, options } = base;
  // Loaded only where they run: nothing of them costs anything otherwise.
  const workloads = options.workloads.length > 0 ? await import('@plat-dev/workloads') : undefined;
  const startControllers = composeControllers(base, {
    workloads: workloads?.workloadControllers,
    credentials,
    signToken: async (claims) => signLegacy(identity, await credentials.signingKey(), claims),
    handle: handleInProcess,
    shared: !engine.exclusive,
    serves: (group, plural) => catalog.serves(group, plural),
    unserved: catalog.unserved(),
  });
  let controllers: Running | undefined;
  let signingKey: Promise<unknown> | undefined;
  await parts.start(
    'background',
    () =>
      inNextTurn(() => {
        signingKey = credentials.signingKey().catch((error: unknown) => base.fail('cannot make the token signing key', error));
        controllers = startControllers();
        cache.loadRest();
      }),
    async (starting) => {
      clearImmediate(starting);
      await Promise.all([controllers?.stop(), signingKey]);
    },
  );
  return (retryMs) => controllers === undefined || controllers.isBusy?.(retryMs) === true;
}

/** The end of a server, requested or because it cannot go on. */
class Ending {
  readonly ended: Promise<Error | undefined>;
  private readonly parts: Parts;
  private readonly log: Log;
  private resolve: (reason: Error | undefined) => void = () => {};
  /** Why the server cannot go on. */
  reason: Error | undefined;

  constructor(parts: Parts, log: Log) {
    this.parts = parts;
    this.log = log;
    this.ended = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }

  /** While the server starts it is the start that fails; later the server ends. */
  readonly fail = (why: string, error: unknown): void => {
    this.log.error('server stopped', { reason: why, error: String(error) });
    this.reason ??= new Error(`${why}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    // The promise of the end resolves to the reason; parts that could not be closed are in the log.
    this.close().catch((second: unknown) => this.log.error('cannot close all parts of the server', { error: String(second) }));
  };

  async close(atOnce = false): Promise<void> {
    try {
      await this.parts.close(atOnce);
    } finally {
      this.resolve(this.reason);
    }
  }
}
