/** Whether the server behind an APIService can be reached, and if not, why. */
import type { APIService, ServiceReference } from '@plat-dev/kinds/apiregistration/schema/v1';
import type { Endpoints, Service } from '@plat-dev/kinds/core/schema/service';
import type { LiveView } from '@plat-dev/kinds/live-view';
import { authorityOf } from '../../http-client/connect.ts';
import { CallTimeout } from '../../http-client/errors.ts';
import type { Backend } from './backends.ts';
import type { RemoteServer } from './remote.ts';

export interface Verdict {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

export interface CheckDeps {
  readonly services: LiveView<Service>;
  readonly endpoints: LiveView<Endpoints>;
}

export const localVerdict: Verdict = { status: 'True', reason: 'Local', message: 'Local APIServices are always available' };
const passedVerdict: Verdict = { status: 'True', reason: 'Passed', message: 'all checks passed' };
const failed = (reason: string, message: string): Verdict => ({ status: 'False', reason, message });

/** Timeout of the probe of a server. */
const PROBE_MS = 5000;
/** One of several endpoints may have failed unnoticed; so many more are probed before a server counts as unavailable. */
const MORE_PROBES = 4;
/** The authorizer of the aggregated server must allow the probe. */
const prober = { name: 'system:kube-aggregator', groups: ['system:masters'] };

export async function check(
  deps: CheckDeps,
  service: APIService,
  { server, connect }: Pick<Backend, 'server' | 'connect'>,
): Promise<Verdict> {
  if (connect !== undefined) return passedVerdict;
  const { spec } = service;
  const problem = serviceProblem(deps, spec.service ?? {});
  if (problem !== undefined) return problem;
  const path = `/apis/${spec.group}/${spec.version}`;
  try {
    await probe(server, path);
    return passedVerdict;
  } catch {
    // One probe is enough if it succeeds.
  }
  try {
    await Promise.any(Array.from({ length: MORE_PROBES }, () => probe(server, path)));
    return passedVerdict;
  } catch (error) {
    return failed('FailedDiscoveryCheck', ((error as AggregateError).errors.at(-1) as Error).message);
  }
}

/** The verdict without a request to the server. Services of other types than ClusterIP are not checked. */
function serviceProblem({ services, endpoints }: CheckDeps, reference: ServiceReference): Verdict | undefined {
  const { namespace = '', name = '', port = 443 } = reference;
  const serviceText = `service/${name} in ${JSON.stringify(namespace)}`;
  const service = services.get(namespace, name);
  if (service === undefined) return failed('ServiceNotFound', `${serviceText} is not present`);
  if ((service.spec.type ?? 'ClusterIP') !== 'ClusterIP') return undefined;
  const servicePort = service.spec.ports?.find((candidate) => candidate.port === port);
  if (servicePort === undefined) return failed('ServicePortError', `${serviceText} is not listening on port ${port}`);
  const serviceEndpoints = endpoints.get(namespace, name);
  if (serviceEndpoints === undefined) return failed('EndpointsNotFound', `cannot find endpoints for ${serviceText}`);
  const portName = servicePort.name ?? '';
  const ready = (serviceEndpoints.subsets ?? []).some(
    ({ addresses = [], ports = [] }) => addresses.length > 0 && ports.some((endpointPort) => (endpointPort.name ?? '') === portName),
  );
  if (ready) return undefined;
  return failed('MissingEndpoints', `endpoints for ${serviceText} have no addresses with port name ${JSON.stringify(portName)}`);
}

/**
 * Rejects with the message of the condition. Certificates are not verified, as in stock servers: the response is not used,
 * and proxied requests do verify.
 */
async function probe(server: RemoteServer, path: string): Promise<void> {
  const address = server.address();
  const url = `https://${authorityOf(address)}${path}`;
  const missing = (why: string): Error => new Error(`failing or missing response from ${url}: ${why}`);
  try {
    const { status } = await server.get(path, prober, { timeoutMs: PROBE_MS, verified: false, address });
    if (status >= 200 && status < 300) return;
    throw missing(`bad status from ${url}: ${status}`);
  } catch (error) {
    const { cause, message } = error as Error;
    if (cause === undefined) throw error;
    throw missing(
      `Get "${url}": ${cause instanceof CallTimeout ? `${message} (Client.Timeout exceeded while awaiting headers)` : message}`,
    );
  }
}
