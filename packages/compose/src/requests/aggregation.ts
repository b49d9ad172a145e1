/** Group versions of aggregated API servers: their registration and the proxy to them, by the options of the server. */
import type { X509Certificate } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import type { Service } from '@plat-dev/kinds/core/schema/service';
import type { LiveSource } from '@plat-dev/kinds/live-view';
import type { Random } from '@plat-dev/lib/random';
import { shortWord } from '@plat-dev/meta/identity';
import { type ResolveService, serviceResolver } from '@plat-dev/server/admission/webhooks/service';
import { aggregated } from '@plat-dev/server/aggregation';
import type { Context } from '@plat-dev/server/context';
import { Aggregation } from '@plat-dev/server/extension/aggregation/aggregation';
import type { LocalServers } from '@plat-dev/server/extension/aggregation/backends';
import { identityHeaderNames } from '@plat-dev/server/extension/aggregation/identity-headers';
import type { PublishedTrust } from '@plat-dev/server/registry/bootstrap/run';
import type { Catalog } from '@plat-dev/server/registry/catalog';
import type { RegistryDeps } from '@plat-dev/server/registry/context';
import { SystemWriter } from '@plat-dev/server/registry/system';
import type { OpenConnections } from '@plat-dev/server/tunnels/forward';
import { credentialHeaders } from '@plat-dev/server/tunnels/headers';
import type { Base } from '../base.ts';
import type { ServerOptions } from '../config/server-options.ts';
import { identityHeadersOf } from '../connect.ts';
import { type Credentials, frontProxyName } from '../credentials/credentials.ts';
import type { Trust } from '../credentials/trust.ts';

export interface AggregationDeps {
  readonly credentials: Credentials;
  readonly catalog: Catalog;
  readonly live: LiveSource;
  readonly trust: Trust;
  /** What this process answers for besides its kinds. */
  readonly local?: LocalServers | undefined;
}

export interface ComposedAggregation {
  readonly aggregation: Aggregation;
  /** Returns undefined for a request to this server itself. */
  readonly serve: (ctx: Context) => Promise<void> | undefined;
  /** Called when the bootstrap objects and the kinds of definitions are there. */
  start(registry: RegistryDeps): void;
  close(): void;
}

export function composeAggregation(
  { options, identity, metrics, log, clock, random }: Base,
  { credentials, catalog, live, trust, local }: AggregationDeps,
): ComposedAggregation {
  const isOwn = (certificate: X509Certificate): boolean => trust.own.has(certificate);
  const aggregation = new Aggregation({
    identity,
    catalog,
    live,
    resolve: addressesOf(options, live, random),
    clientCertificate: () => trust.proxyClient?.current ?? credentials.frontProxy.client,
    isOwn,
    local,
    metrics,
    clock,
    report: (error) => log.error('cannot write an APIService', { error: String(error) }),
  });
  const open: OpenConnections = new Set();
  const serve = aggregated({
    find: (group, version) => aggregation.find(group, version),
    isCredential: credentialHeaders(identityHeadersOf(options)),
    // The administrator chooses the addresses of aggregated servers: any is allowed, except this server's own.
    guard: { lookup: async (host) => (await lookup(host, { all: true })).map(({ address }) => address), refused: isOwn },
    rejectRedirects: options.aggregatorRejectForwardingRedirect,
    open,
    limits: { clock, answerMs: options.requestTimeout },
    unreachable: (details) => log.warn('aggregated API server unreachable', details),
  });
  return {
    aggregation,
    serve,
    start: (registry) => aggregation.start(new SystemWriter(registry, `${shortWord(identity)}-apiserver`)),
    close: () => {
      aggregation.close();
      for (const connection of [...open]) connection.end();
    },
  };
}

/** Addresses of services may not be routable here: they are used only if the option says so. */
export function addressesOf({ enableAggregatorRouting }: ServerOptions, live: LiveSource, random: Random): ResolveService {
  const byEndpoints = serviceResolver(live, random.below);
  if (enableAggregatorRouting !== false) return byEndpoints;
  const services = live<Service>('', 'services');
  return (namespace, name, port) => {
    const { type, clusterIP = 'None' } = services.get(namespace, name)?.spec ?? {};
    return type === 'ExternalName' || clusterIP === 'None' || clusterIP === ''
      ? byEndpoints(namespace, name, port)
      : { host: clusterIP, port };
  };
}

/** The configuration that aggregated servers read: the CAs of clients, and the headers with the user. */
export function publishedTrust(options: ServerOptions, { frontProxy }: Credentials, { clientCAs, proxyCA }: Trust): PublishedTrust {
  const clientCA = clientCAs.current.pem;
  if (proxyCA !== undefined)
    return {
      clientCA,
      proxy: {
        clientCA: proxyCA.current.pem,
        usernameHeaders: options.requestheaderUsernameHeaders,
        groupHeaders: options.requestheaderGroupHeaders,
        extraHeaderPrefixes: options.requestheaderExtraHeadersPrefix,
        allowedNames: options.requestheaderAllowedNames,
      },
    };
  if (frontProxy.ownCA === undefined) return { clientCA };
  return {
    clientCA,
    proxy: {
      clientCA: frontProxy.ownCA,
      usernameHeaders: [identityHeaderNames.user],
      groupHeaders: [identityHeaderNames.group],
      extraHeaderPrefixes: [identityHeaderNames.extra],
      allowedNames: [frontProxyName],
    },
  };
}
