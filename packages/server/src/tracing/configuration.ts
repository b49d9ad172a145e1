/**
 * The file of `--tracing-config-file`, as stock servers read it:
 *
 *   apiVersion: apiserver.config.<suffix of the identity>/v1alpha1
 *   kind: TracingConfiguration
 *   endpoint: localhost:4317          # a collector that takes OTLP over gRPC, without TLS
 *   samplingRatePerMillion: 100       # requests per million that are sampled at random; default 0
 */
import { jsonText } from '@plat-dev/lib/json-text';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { groupName, type Identity, kubernetes } from '@plat-dev/meta/identity';
import type { JsonValue } from '@plat-dev/schema/types';

export interface TracingConfiguration {
  /** `host:port` */
  readonly endpoint: string;
  readonly samplingRatePerMillion: number;
}

const DEFAULT_ENDPOINT = 'localhost:4317';
const MILLION = 1_000_000;
const fields = new Set(['kind', 'apiVersion', 'endpoint', 'samplingRatePerMillion']);

/** Throws an Error that names the field and what is wrong with it. */
export function readTracingConfiguration(value: JsonValue, identity: Identity): TracingConfiguration {
  const configuration = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  // Files of stock servers are read under every identity.
  const versions = [...new Set([identity, kubernetes])].map((one) => joinApiVersion(groupName(one, 'apiserver.config'), 'v1alpha1'));
  const { kind, apiVersion, endpoint = DEFAULT_ENDPOINT, samplingRatePerMillion: rate = 0 } = configuration;
  if (kind !== 'TracingConfiguration' || !versions.includes(apiVersion as string))
    throw new Error(`must have kind: TracingConfiguration and apiVersion: ${versions.join(' or ')}`);
  const unknown = Object.keys(configuration).find((name) => !fields.has(name));
  if (unknown !== undefined) throw new Error(`unknown field ${unknown}`);
  if (typeof endpoint !== 'string' || !/^(dns:(\/\/)?\/?)?[^/\s]+:\d{1,5}$/.test(endpoint))
    throw new Error(`endpoint: ${jsonText(endpoint)} is not of the form host:port`);
  if (typeof rate !== 'number' || !Number.isInteger(rate) || rate < 0 || rate > MILLION)
    throw new Error(`samplingRatePerMillion: ${jsonText(rate)} is not a whole number from 0 to ${MILLION}`);
  return { endpoint: endpoint.replace(/^dns:\/*/, ''), samplingRatePerMillion: rate };
}
