/** The way of a request through a server: its steps in order, and everything that the steps ask. */
import { hasDocuments, issuerDocuments } from '../auth/service-account/discovery.ts';
import { Definitions } from '../extension/definitions.ts';
import { TimeLimits } from '../lib/time-limits.ts';
import { bootstrap, bootstrapParts, publishTrust } from '../registry/bootstrap/run.ts';
import { admitted } from '../server/actions/admitted.ts';
import { bindingActions } from '../server/actions/binding.ts';
import { componentStatuses } from '../server/actions/component-statuses.ts';
import { eviction } from '../server/actions/eviction.ts';
import { reviewActions } from '../server/actions/reviews.ts';
import { rollback } from '../server/actions/rollback.ts';
import { tokenRequest, tokenRequestAdmission } from '../server/actions/token-request.ts';
import { serveResource } from '../server/api.ts';
import type { Context } from '../server/context.ts';
import { requestHandler } from '../server/handler.ts';
import { givenUser, presetUser } from '../server/in-process.ts';
import { KeptLists } from '../server/kept-lists.ts';
import { Negotiator } from '../server/negotiate.ts';
import type { Step } from '../server/pipeline.ts';
import { keepBodies, logRequests } from '../server/request-log.ts';
import { Routes } from '../server/route.ts';
import type { Services } from '../server/services.ts';
import { authenticate } from '../server/steps/authenticate.ts';
import { authorize } from '../server/steps/authorize.ts';
import { explain } from '../server/steps/explain.ts';
import { auditId, checkTimeout, findInfo, sendUncompressed } from '../server/steps/identify.ts';
import { impersonate } from '../server/steps/impersonate.ts';
import type { Handle } from '../server/tunnels/upgrade.ts';
import { Watches } from '../server/watch/watches.ts';
import type { Cache } from '../storage/cache.ts';
import type { Access } from './access.ts';
import { composeAggregation, publishedTrust } from './aggregation.ts';
import { composeAudit } from './audit.ts';
import type { Base } from './base.ts';
import { composeConnections } from './connect.ts';
import { composeConversions } from './conversion-webhooks.ts';
import type { Credentials } from './credentials.ts';
import { composeFlowStatus, composeFlowUpkeep } from './flow-upkeep.ts';
import { composeServerIdentity } from './server-identity.ts';
import { composeSimulation, defineSimulation } from './simulated-nodes.ts';
import type { State } from './state.ts';
import { composeStreams } from './streams.ts';
import { composeSurface } from './surface.ts';
import { composeTracing } from './tracing.ts';

/** Most bytes that wait for a watcher that does not read. */
const WATCH_BUFFER_BYTES = 16 * 1024 * 1024;

export interface Requests {
  /** Requests from outside, whose credentials say who makes them. */
  readonly handle: Handle;
  /** Requests from within, made with a user. */
  readonly handleInProcess: Handle;
  /** For clients in this process: requests made with a user, or with credentials. */
  handlerForClients(): Handle;
  /** The custom kinds that are served. */
  readonly definitions: Pick<Definitions, 'state' | 'settled'>;
  /** Whether custom kinds have changes to serve, or watches have events to send. */
  isBusy(): boolean;
  /** From now on the server is not ready. */
  shuttingDown(): void;
  /** Ends watches and tunnels, which would go on for ever. */
  endStreams(): void;
}

/** `address`: host and port by which clients reach the server, known once it listens. */
export async function composeRequests(
  base: Base,
  state: State,
  { trust, auth, registry, writer }: Access,
  credentials: Credentials,
  address: () => string,
): Promise<Requests> {
  const { options, identity, clock, random, log, parts, hooks, from } = base;
  const { engine, encryption, cache, catalog, live, env, allocations } = state;
  const simulation = composeSimulation(base);
  if (simulation !== undefined) parts.add('simulated nodes', () => simulation.close());
  const connections = composeConnections(base, credentials, registry, live, trust, simulation);
  parts.add('tunnels', () => connections.close());
  const aggregation = composeAggregation(base, { credentials, catalog, live, trust, local: simulation?.local(live) });
  parts.add('aggregation', () => aggregation.close());
  const keptLists = new KeptLists();
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
      ...['apps', 'extensions'].map((group) => [`${group}/deployments/rollback`, rollback(registry)] as const),
    ]),
    computed: new Map([['core/componentstatuses', componentStatuses(engine)]]),
    limits: {
      requestTimeoutMs: options.requestTimeout,
      minRequestTimeoutSeconds: options.minRequestTimeout,
      watchBufferBytes: WATCH_BUFFER_BYTES,
    },
    watchEvents: (resource) => surface.watchEvents(resource),
    log,
    clock,
    watches: new Watches(clock),
    keptLists,
    spread: () => random.float(),
  };
  catalog.onRemove((_, resources) => {
    for (const { collection } of resources) if (collection !== undefined) keptLists.forget(collection.prefix);
  });
  const documents = async () => issuerDocuments(auth.issuerName, await auth.publicKeys(), options.serviceAccountJwksUri || undefined);
  const surface = await parts.start(
    'surface',
    () =>
      composeSurface(base, services, {
        live,
        address,
        issuer: hasDocuments(auth.issuerName) ? documents : undefined,
        aggregation: aggregation.aggregation,
        encryption,
        store: engine,
      }),
    (made) => made.close(),
  );
  surface.started('admission');
  await parts.start('allocations', () => allocations.start(live, log));
  const published = () => ({ ...publishedTrust(options, credentials, trust), shared: !engine.exclusive });
  await parts.start('bootstrap', async () => {
    if (from !== undefined) return bootstrapParts.forEach(surface.started);
    const made = await bootstrap(writer, catalog, identity, env.now(), published(), surface.started);
    // What went before the first start's objects is of no use to a watch.
    if (made > 0 && engine.exclusive) await forgetBefore(cache, engine.revision);
  });
  await parts.start(
    'server identity',
    () => composeServerIdentity(base, { catalog, live, writer }),
    (end) => end(),
  );
  const publishAgain = (): void => {
    publishTrust(writer, identity, published(), env.now()).catch((error: unknown) =>
      log.error('cannot publish the authorities of clients', { error: String(error) }),
    );
  };
  trust.clientCAs.onChange(publishAgain);
  trust.proxyCA?.onChange(publishAgain);
  const definitions = await parts.start('definitions', async () => {
    const conversions = composeConversions(base, live, trust);
    const made = new Definitions({ registry, live, identity, clock, log, conversions, from: from?.definitions });
    parts.add('definitions', () => made.close());
    const added = await defineSimulation(base, writer);
    await made.start();
    if (added > 0) await made.settled();
    surface.started('definitions');
    return made;
  });
  await parts.start('aggregated APIs', () => aggregation.start(registry));
  await parts.start(
    'flow status',
    () => composeFlowStatus(base, live, writer),
    (end) => end(),
  );
  await parts.start(
    'flow upkeep',
    () => composeFlowUpkeep(base, live, writer),
    (end) => end(),
  );
  const trail = await parts.start(
    'audit',
    () => composeAudit(base, { catalog, trust }),
    (made) => made?.close(),
  );
  const tracing = await parts.start(
    'tracing',
    () => composeTracing(base),
    (made) => made?.close(),
  );
  const streams = await parts.start(
    'streams',
    () => composeStreams(base, { live, authenticator: auth.authenticator, authorizer: auth.authorizer }),
    (made) => made.close(),
  );
  const steps = (identify: Step): Step[] => [
    ...keepBodies(log),
    auditId(base.random),
    findInfo,
    ...(tracing === undefined ? [] : [tracing.step]),
    ...(options.features.isOn('APIResponseCompression') ? [] : [sendUncompressed]),
    checkTimeout,
    trail?.around(identify) ?? identify,
    impersonate(identity, services.authorizer),
    ...(hooks === undefined ? [] : [hooks.known]),
    ...surface.steps,
    authorize(services.authorizer),
    explain(services.authorizer),
    streams.step,
    (ctx) => aggregation.serve(ctx) ?? (ctx.info.resourceRequest ? serveResource(services, ctx) : surface.serve(ctx)),
  ];
  const observe =
    hooks === undefined
      ? surface.finished
      : (ctx: Context): void => {
          surface.finished(ctx);
          hooks.finished(ctx);
        };
  const finished = logRequests(log, clock, observe);
  const routes = new Routes();
  const limits = new TimeLimits<Context>(clock, services.limits.requestTimeoutMs);
  parts.add('time limits', () => limits.close());
  const handlerOf = (identify: Step): Handle => {
    const handler = requestHandler({
      steps: steps(identify),
      routes,
      limits,
      clock,
      report: (error, ctx) =>
        log.error('request failed', {
          method: ctx.method,
          path: ctx.path,
          audit: ctx.auditId,
          error: error instanceof Error ? (error.stack ?? error.message) : String(error),
        }),
      finished,
    });
    return hooks === undefined ? handler : hooks.around(handler);
  };
  const handleInProcess = handlerOf(presetUser);
  await simulation?.start(handleInProcess);
  return {
    handle: handlerOf(authenticate(services.authenticator, () => trust.tls.clientCAs.current)),
    handleInProcess,
    handlerForClients: () => handlerOf(givenUser(services.authenticator)),
    definitions,
    isBusy: () => definitions.isBusy || services.watches.isPending,
    shuttingDown: surface.shuttingDown,
    endStreams() {
      services.watches.end();
      connections.close();
      aggregation.close();
    },
  };
}

async function forgetBefore(cache: Cache, revision: number): Promise<void> {
  await cache.engine.compact(revision);
  cache.forget(revision);
}
