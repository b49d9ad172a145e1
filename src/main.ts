/** The composition root: the only file that knows every other. `startServer` makes a server of options. */
import { performance } from 'node:perf_hooks';
import { signLegacy } from './auth/service-account/claims.ts';
import { hasDocuments, issuerDocuments } from './auth/service-account/discovery.ts';
import { composeAdmission } from './compose/admission.ts';
import { composeAggregation, publishedTrust } from './compose/aggregation.ts';
import { declareAllocations, declareServerEndpoints } from './compose/allocation.ts';
import { composeAudit } from './compose/audit.ts';
import { composeAuth } from './compose/auth.ts';
import { composeClusterInfo } from './compose/cluster-info.ts';
import { composeConnections } from './compose/connect.ts';
import { composeControllers } from './compose/controllers.ts';
import { composeConversions } from './compose/conversions.ts';
import type { Encryption } from './compose/encryption.ts';
import { composeFlowUpkeep } from './compose/flow-upkeep.ts';
import { checkRuntimeConfig } from './compose/runtime-config.ts';
import { prepareStore, restoreDirectoryFirst, storeOwner } from './compose/store.ts';
import { composeStreams } from './compose/streams.ts';
import { composeSurface } from './compose/surface.ts';
import { composeTrust } from './compose/trust.ts';
import type { Running } from './controllers/runtime/manager.ts';
import { type Credentials, prepareCredentials } from './credentials.ts';
import { Definitions } from './extension/definitions.ts';
import type { ServerOptions } from './flags.ts';
import { type Identity, identityOf } from './identity.ts';
import { builtinKinds } from './kinds/index.ts';
import type { KindEnv } from './kinds/kind.ts';
import { type Clock, systemClock } from './lib/clock.ts';
import { withDescriptors } from './lib/descriptors.ts';
import { type Log, openLog } from './lib/log.ts';
import { Metrics } from './lib/metrics.ts';
import { systemRandom } from './lib/random.ts';
import { FileReloader } from './lib/reload.ts';
import { bootstrap, publishTrust } from './registry/bootstrap/run.ts';
import { Catalog } from './registry/catalog.ts';
import type { RegistryDeps } from './registry/context.ts';
import { liveSource } from './registry/live.ts';
import { SystemWriter } from './registry/system.ts';
import { admitted } from './server/actions/admitted.ts';
import { bindingActions } from './server/actions/binding.ts';
import { componentStatuses } from './server/actions/component-statuses.ts';
import { eviction } from './server/actions/eviction.ts';
import { reviewActions } from './server/actions/reviews.ts';
import { tokenRequest, tokenRequestAdmission } from './server/actions/token-request.ts';
import { serveResource } from './server/api.ts';
import { Connections } from './server/connections.ts';
import { measured } from './server/endpoints/measured-engine.ts';
import { registerConnections } from './server/endpoints/metrics.ts';
import { keepFlowStatus } from './server/flow-status.ts';
import { requestHandler } from './server/handler.ts';
import { presetUser } from './server/in-process.ts';
import { KeptLists } from './server/kept-lists.ts';
import { type Listener, listen } from './server/listen.ts';
import { Negotiator } from './server/negotiate.ts';
import type { Step } from './server/pipeline.ts';
import { keepBodies, logRequests } from './server/request-log.ts';
import type { Services } from './server/services.ts';
import { authenticate } from './server/steps/authenticate.ts';
import { authorize } from './server/steps/authorize.ts';
import { explain } from './server/steps/explain.ts';
import { auditId, checkTimeout, findInfo } from './server/steps/identify.ts';
import { impersonate } from './server/steps/impersonate.ts';
import { upgradeHandler } from './server/tunnels/upgrade.ts';
import { Watches } from './server/watch/watches.ts';
import { Cache } from './storage/cache.ts';
import type { Engine } from './storage/engine.ts';
import { openEngine } from './storage/engines/index.ts';
import { logUnreadable } from './storage/unreadable.ts';
import { apiRelease } from './version.ts';

export interface RunningServer {
  /** `https://127.0.0.1:6443` */
  readonly address: string;
  readonly port: number;
  readonly identity: Identity;
  /** Client configuration of the administrator. */
  readonly adminConfigPath: string;
  /** Ends gracefully: fails readiness, ends watches, lets requests finish, closes the store. */
  close(): Promise<void>;
  /** Ends at once. */
  abort(): void;
}

/** Most bytes that wait for a watcher that does not read. */
const WATCH_BUFFER_BYTES = 16 * 1024 * 1024;
/** How long a graceful end waits for requests under way. */
const CLOSE_WAIT_MS = 10_000;

export async function startServer(
  options: ServerOptions,
  log: Log = openLog({ format: options.logFormat, verbosity: options.v }),
  openStore: typeof openEngine = openEngine,
  clock: Clock = systemClock,
): Promise<RunningServer> {
  const identity = identityOf(options.identity);
  checkRuntimeConfig(options.runtimeConfig, identity);
  const now = (): number => Date.now();
  const exhausted = (error: unknown): void => log.warn('no file descriptors are free, waiting', { error: String(error) });
  const preparing = withDescriptors(() => prepareCredentials(options, identity, now()), exhausted);
  // Waited for when the store is open; a store that cannot be opened is the first thing to be told.
  preparing.catch(() => {});
  await restoreDirectoryFirst(options, identity, log);
  const store: Parameters<typeof openEngine>[0] = {
    store: options.store,
    dataDir: options.dataDir,
    historyRetentionMs: options.historyRetention,
    owner: storeOwner(identity),
    notice: (problem) => log.warn('the store has a problem', { problem }),
    checked: (result) => log.info('pages of the store file were checked', { ...result }),
    etcd: {
      servers: options.etcdServers,
      prefix: options.etcdPrefix,
      caFile: options.etcdCafile,
      certFile: options.etcdCertfile,
      keyFile: options.etcdKeyfile,
    },
  };
  const engine = await withDescriptors(() => openStore(store), exhausted);
  const undo: (() => void)[] = [];
  try {
    await prepareStore(engine, options, identity, log);
    return await serve(options, identity, await preparing, engine, log, undo, clock);
  } catch (error) {
    for (const step of undo) step();
    await engine.close();
    throw error;
  }
}

/** `undo` is told what a start that fails further on has to end; credentials expire by `clock`. */
async function serve(
  options: ServerOptions,
  identity: Identity,
  credentials: Credentials,
  engine: Engine,
  log: Log,
  undo: (() => void)[],
  clock: Clock,
): Promise<RunningServer> {
  let running: RunningServer | undefined;
  const metrics = new Metrics({ version: apiRelease, showHiddenFor: options.showHiddenMetricsForVersion, warn: (text) => log.warn(text) });
  const failed = (what: string) => (error: unknown) => {
    log.error(`${what}; the server ends`, { error: String(error) });
    process.exitCode = 1;
    void running?.close();
  };
  const store = measured(engine, metrics, () => performance.now());
  const encryption = await encryptionOf(options, identity, store, metrics, log);
  undo.push(() => encryption?.close());
  const cache = new Cache(encryption?.engine ?? store, failed('the store can no longer be followed'), logUnreadable(log));
  // Whoever reads why the start failed is not to read about the store that is closed because of it.
  undo.push(() => cache.close());
  const catalog = new Catalog(identity, cache);
  const keptLists = new KeptLists();
  catalog.declare(builtinKinds(identity), (served) => options.runtimeConfig.enabled(served.group, served.version, served.kind.plural));
  const allocations = declareAllocations(options, cache);
  const serverEndpoints = declareServerEndpoints(cache);
  await cache.start();
  encryption?.follow(cache);
  const live = liveSource(catalog);
  const env: KindEnv = {
    identity,
    now: () => Date.now(),
    feature: (name) => options.features.isOn(name),
    allowPrivileged: options.allowPrivileged,
    eventTtlSeconds: options.eventTtl / 1000,
  };
  const files = new FileReloader(systemClock, log);
  undo.push(() => files.close());
  const trust = composeTrust(options, credentials, files);
  const auth = await composeAuth(options, identity, credentials, live, trust, clock);
  const registry: RegistryDeps = {
    catalog,
    cache,
    env,
    admission: await composeAdmission({
      options,
      identity,
      catalog,
      live,
      env,
      auth,
      metrics,
      log,
      trust,
      ensureNamespace: async (name) => void (await writer.ensure('', 'namespaces', { metadata: { name } })),
    }),
    hooks: allocations.hooks,
    randomBelow: systemRandom.below,
    newUid: systemRandom.uuid,
    maxObjectBytes: options.maxObjectBytes,
  };
  const connections = composeConnections(options, identity, credentials, registry, live, trust, clock);
  const aggregation = composeAggregation({ options, identity, credentials, catalog, live, metrics, log, trust, clock });
  const services: Services = {
    identity,
    registry,
    negotiator: new Negotiator(identity),
    authenticator: auth.authenticator,
    authorizer: auth.authorizer,
    actions: new Map([
      ...reviewActions({ identity, authorizer: auth.authorizer, tokens: auth.tokens, audiences: auth.audiences }).map(
        ([id, action]) => [id, admitted(registry, action)] as const,
      ),
      ['core/serviceaccounts/token', admitted(registry, tokenRequest(identity, auth.issuer), tokenRequestAdmission)],
      ...connections.actions,
      ...bindingActions(registry),
      ['core/pods/eviction', eviction(registry)],
    ]),
    computed: new Map([['core/componentstatuses', componentStatuses(engine)]]),
    limits: {
      requestTimeoutMs: options.requestTimeout,
      minRequestTimeoutSeconds: options.minRequestTimeout,
      watchBufferBytes: WATCH_BUFFER_BYTES,
    },
    watchEvents: (resource) => surface.watchEvents(resource),
    log,
    watches: new Watches(systemClock),
    keptLists,
    spread: () => systemRandom.float(),
  };
  catalog.onRemove((_, resources) => {
    for (const { collection } of resources) if (collection !== undefined) keptLists.forget(collection.prefix);
  });
  const documents = async () => issuerDocuments(auth.issuerName, await auth.publicKeys(), options.serviceAccountJwksUri || undefined);
  const surface = composeSurface(services, {
    options,
    metrics,
    live,
    address: () => `${options.advertiseAddress ?? reachable(options.bindAddress)}:${listener.port}`,
    issuer: hasDocuments(auth.issuerName) ? documents : undefined,
    aggregation: aggregation.aggregation,
    encryption,
    store: engine,
    logProblem: () => log.problem?.(),
  });
  surface.started('admission');
  const writer = new SystemWriter(registry, identity.word);
  await allocations.start(live, log);
  const published = () => ({ ...publishedTrust(options, credentials, trust), shared: !engine.exclusive });
  const made = await bootstrap(writer, catalog, identity, env.now(), published(), surface.started);
  const publishAgain = (): void => {
    publishTrust(writer, identity, published(), env.now()).catch((error: unknown) =>
      log.error('cannot publish the authorities of clients', { error: String(error) }),
    );
  };
  trust.clientCAs.onChange(publishAgain);
  trust.proxyCA?.onChange(publishAgain);
  // What went before the first start's objects is of no use to a watch.
  if (made > 0 && engine.exclusive) await forgetBefore(cache, engine.revision);
  const definitions = new Definitions({
    registry,
    live,
    identity,
    clock: systemClock,
    log,
    conversions: composeConversions(identity, live, metrics, trust),
  });
  await definitions.start();
  surface.started('definitions');
  aggregation.start(registry);
  const endFlowStatus = keepFlowStatus({
    live,
    changeStatus: (name, change) => writer.change('flowcontrol.apiserver', 'flowschemas', '', name, change, 'status'),
    now: env.now,
    report: (error) => log.error('the status of a flow schema could not be told', { error: String(error) }),
  });
  const endFlowUpkeep = composeFlowUpkeep({ identity, live, writer, now: env.now(), log });
  const trail = await composeAudit({ options, identity, catalog, metrics, log, trust });
  const streams = composeStreams({ identity, live, log, clock, authenticator: auth.authenticator, authorizer: auth.authorizer });
  const steps = (identify: Step): Step[] => [
    ...keepBodies(log),
    auditId,
    findInfo,
    checkTimeout,
    trail?.around(identify) ?? identify,
    impersonate(identity, services.authorizer),
    ...surface.steps,
    authorize(services.authorizer),
    explain(services.authorizer),
    streams.step,
    (ctx) => aggregation.serve(ctx) ?? (ctx.info.resourceRequest ? serveResource(services, ctx) : surface.serve(ctx)),
  ];
  const finished = logRequests(log, surface.finished);
  const handlerOf = (identify: Step) =>
    requestHandler({
      steps: steps(identify),
      requestTimeoutMs: services.limits.requestTimeoutMs,
      clock: systemClock,
      report: (error, ctx) =>
        log.error('a request failed', {
          method: ctx.method,
          path: ctx.path,
          audit: ctx.auditId,
          error: error instanceof Error ? (error.stack ?? error.message) : String(error),
        }),
      finished,
    });
  const handle = handlerOf(authenticate(services.authenticator));
  const startControllers = composeControllers({
    options,
    identity,
    credentials,
    signToken: async (claims) => signLegacy(identity, await credentials.signingKey(), claims),
    handle: handlerOf(presetUser),
    shared: !engine.exclusive,
    metrics,
    log,
  });
  const upgrade = upgradeHandler(handle, `base64url.bearer.authorization.${identity.groupSuffix}.`);
  const accepted = new Connections({ total: options.maxConnections, perAddress: options.maxConnectionsPerAddress });
  registerConnections(metrics, accepted);
  const listener = await listen({
    connections: accepted,
    host: options.bindAddress,
    port: options.securePort,
    tls: trust.tls,
    handle,
    upgrade,
  });
  const listeners: Listener[] = [listener];
  if (options.insecurePort !== 0)
    listeners.push(await listen({ host: '127.0.0.1', port: options.insecurePort, connections: accepted, handle, upgrade }));
  const address = `https://${reachable(options.bindAddress)}:${listener.port}`;
  const [withdraw] = await Promise.all([
    serverEndpoints.announce({ identity, writer, options, port: listener.port, log }),
    credentials.writeAdminConfig(address),
    composeClusterInfo({ options, identity, credentials, trust, writer, port: listener.port, log }),
  ]);
  const abort = (): void => {
    for (const one of listeners) one.abort();
  };
  let controllers: Running | undefined;
  let signingKey: Promise<unknown> | undefined;
  // When whoever started the server has heard that it is ready: most requests can be answered without these.
  const starting = setImmediate(() => {
    signingKey = credentials.signingKey().catch(failed('the key that signs tokens cannot be made'));
    controllers = startControllers();
  });
  running = {
    address,
    port: listener.port,
    identity,
    adminConfigPath: credentials.adminConfigPath,
    abort,
    close: async () => {
      surface.shuttingDown();
      files.close();
      streams.close();
      endFlowStatus();
      endFlowUpkeep();
      if (options.shutdownDelayDuration > 0) await new Promise((resolve) => setTimeout(resolve, options.shutdownDelayDuration));
      clearImmediate(starting);
      await Promise.all([controllers?.stop(), withdraw(), signingKey]);
      const closing = listeners.map((one) => one.close());
      for (const watch of [...services.watches.open]) watch.end();
      connections.close();
      aggregation.close();
      const timer = setTimeout(abort, CLOSE_WAIT_MS);
      await Promise.all(closing);
      clearTimeout(timer);
      await trail?.close();
      await definitions.close();
      registry.admission.close?.();
      auth.close();
      surface.close();
      encryption?.close();
      cache.close();
      await engine.close();
    },
  };
  return running;
}

/** Undefined where nothing is encrypted: the store is then used as it is. */
async function encryptionOf(
  options: ServerOptions,
  identity: Identity,
  engine: Engine,
  metrics: Metrics,
  log: Log,
): Promise<Encryption | undefined> {
  const { encryptionProviderConfig: file, encryptionProviderConfigAutomaticReload: reload } = options;
  if (file === undefined) return undefined;
  const { composeEncryption } = await import('./compose/encryption.ts');
  return composeEncryption({ file, reload, identity, engine, metrics, log, clock: systemClock, random: systemRandom });
}

async function forgetBefore(cache: Cache, revision: number): Promise<void> {
  await cache.engine.compact(revision);
  cache.forget(revision);
}

/** An address that a client on this machine can use. */
function reachable(bindAddress: string): string {
  if (bindAddress === '0.0.0.0') return '127.0.0.1';
  if (bindAddress === '::') return '[::1]';
  return bindAddress.includes(':') ? `[${bindAddress}]` : bindAddress;
}
