/** The way of a request through a server: the parts that it meets, started in the order in which they need each other. */
import { isAtLeast } from '@plat-dev/lib/version';
import { hasDocuments, issuerDocuments } from '@plat-dev/server/auth/service-account/discovery';
import type { Definitions } from '@plat-dev/server/extension/definitions';
import { givenUser, presetUser } from '@plat-dev/server/in-process';
import type { Services } from '@plat-dev/server/services';
import { authenticate, authenticateSession } from '@plat-dev/server/steps/authenticate';
import type { Handle } from '@plat-dev/server/tunnels/upgrade';
import { composeFlowStatus, composeFlowUpkeep } from '../background/flow-upkeep.ts';
import { composeSimulation } from '../background/simulated-nodes.ts';
import type { Base } from '../base.ts';
import { composeConnections } from '../connect.ts';
import type { Credentials } from '../credentials/credentials.ts';
import { composeServerIdentity } from '../credentials/server-identity.ts';
import { composeDefinitions } from '../definitions.ts';
import { composeFirstObjects } from '../first-objects.ts';
import { composeServices } from '../services.ts';
import type { State } from '../state.ts';
import type { Access } from './access.ts';
import { type ComposedAggregation, composeAggregation } from './aggregation.ts';
import { composePipeline } from './pipeline.ts';
import { composeSurface, type Surface } from './surface.ts';

/** Releases from this one on warn of a token that does not count because of spaces before it. */
const WARNS_OF_SPACES_SINCE = '1.25';

export interface Requests {
  /** Requests from outside, whose credentials say who makes them. */
  readonly handle: Handle;
  /** Requests from within, made with a user. */
  readonly handleInProcess: Handle;
  /** For clients in this process: requests made with a user, or with credentials. */
  handlerForClients(): Handle;
  /** For requests of sessions, whose answers have these further headers. */
  handlerForSessions(headers: readonly string[]): Handle;
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
  access: Access,
  credentials: Credentials,
  address: () => string,
): Promise<Requests> {
  const { log, parts } = base;
  const { catalog, live, allocations } = state;
  const { trust, registry } = access;
  const simulation = composeSimulation(base);
  if (simulation !== undefined) parts.add('simulated nodes', () => simulation.close());
  const connections = composeConnections(base, credentials, registry, live, trust, simulation);
  parts.add('tunnels', () => connections.close());
  const aggregation = composeAggregation(base, { credentials, catalog, live, trust, local: simulation?.local(live) });
  parts.add('aggregation', () => aggregation.close());
  const services = composeServices(base, state, access, connections, (resource) => surface.watchEvents(resource));
  const surface = await startSurface(base, state, access, services, aggregation, address);
  surface.started('admission');
  await parts.start('allocations', () => allocations.start(live, log));
  await parts.start('bootstrap', () => composeFirstObjects(base, state, access, credentials, surface.started));
  await startServerIdentity(base, state, access);
  const definitions = await parts.start('definitions', () => composeDefinitions(base, state, access));
  surface.started('definitions');
  await parts.start('aggregated APIs', () => aggregation.start(registry));
  await startFlows(base, state, access);
  const handlerOf = await composePipeline(base, state, access, { services, surface, aggregation });
  const handleInProcess = handlerOf(presetUser);
  await simulation?.start(handleInProcess);
  return {
    handle: handlerOf(
      authenticate(services.authenticator, () => trust.tls.clientCAs.current, isAtLeast(base.options.apiRelease, WARNS_OF_SPACES_SINCE)),
    ),
    handleInProcess,
    handlerForClients: () => handlerOf(givenUser(services.authenticator)),
    handlerForSessions: (headers) => handlerOf(authenticateSession, headers),
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

function startSurface(
  base: Base,
  { live, engine, encryption }: State,
  { auth }: Access,
  services: Services,
  { aggregation }: ComposedAggregation,
  address: () => string,
): Promise<Surface> {
  const { options, parts } = base;
  const documents = async () => issuerDocuments(auth.issuerName, await auth.publicKeys(), options.serviceAccountJwksUri || undefined);
  const issuer = hasDocuments(auth.issuerName) ? documents : undefined;
  return parts.start(
    'surface',
    () => composeSurface(base, services, { live, address, issuer, aggregation, encryption, store: engine }),
    (surface) => surface.close(),
  );
}

async function startServerIdentity(base: Base, { catalog, live }: State, { writer }: Access): Promise<void> {
  await base.parts.start(
    'server identity',
    () => composeServerIdentity(base, { catalog, live, writer }),
    (end) => end(),
  );
}

async function startFlows(base: Base, { live }: State, { writer }: Access): Promise<void> {
  const { parts } = base;
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
}
