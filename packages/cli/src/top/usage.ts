/** Usage of nodes and pods from the metrics API, in the binary form or as JSON. */

import { queryOf } from '@plat-dev/client/dynamic';
import { errorOf, readAll } from '@plat-dev/client/transport';
import { findGroup } from '@plat-dev/client/why';
import { ObjectMeta } from '@plat-dev/kinds/meta';
import { groupName, identities } from '@plat-dev/meta/identity';
import { decodeProtobuf } from '@plat-dev/schema/protobuf';
import { decodeEnvelope, isEnvelope } from '@plat-dev/schema/protobuf/envelope';
import { list, type MessageType, map, message, opt, quantity, string } from '@plat-dev/schema/types';
import { askedServer } from '../discovery/api-groups.ts';
import { isStock } from '../program.ts';
import type { Work } from '../work.ts';

export type Usage = Readonly<Record<string, string>>;
interface Measured {
  readonly metadata: { readonly name: string; readonly namespace?: string };
}
export interface NodeMetrics extends Measured {
  readonly usage: Usage;
}
export interface PodMetrics extends Measured {
  readonly containers: readonly { readonly name: string; readonly usage: Usage }[];
}

/** Only the fields that are shown; others are skipped. */
const NodeType = message('metrics.v1beta1.NodeMetrics', { metadata: opt(1, ObjectMeta), usage: opt(4, map(quantity)) });
const ContainerType = message('metrics.v1beta1.ContainerMetrics', { name: opt(1, string), usage: opt(2, map(quantity)) });
const PodType = message('metrics.v1beta1.PodMetrics', { metadata: opt(1, ObjectMeta), containers: opt(4, list(ContainerType)) });
const typesOf = { nodes: NodeType, pods: PodType } as const;
const listsOf = {
  nodes: message('metrics.v1beta1.NodeMetricsList', { items: opt(2, list(NodeType)) }),
  pods: message('metrics.v1beta1.PodMetricsList', { items: opt(2, list(PodType)) }),
} as const;

const VERSION = 'v1beta1';
const MAX_BYTES = 256 << 20;

export interface MetricsQuery {
  readonly of: 'nodes' | 'pods';
  /** Undefined for all namespaces, and for nodes. */
  readonly namespace?: string | undefined;
  /** Undefined for all of them. */
  readonly name?: string | undefined;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly binary: boolean;
}

/** Throws if the server has no metrics API. */
export async function readMetrics<T extends NodeMetrics | PodMetrics>(work: Work, query: MetricsQuery): Promise<T[]> {
  const group = await findGroup(askedServer(work), 'metrics');
  if (group === undefined) {
    const hint = isStock(work.io)
      ? ''
      : ': usage comes from a metrics server, which registers an API service; `plat get apiservices` shows none';
    throw new Error(`Metrics API not available${hint}`);
  }
  const scope = query.namespace === undefined ? '' : `/namespaces/${encodeURIComponent(query.namespace)}`;
  const name = query.name === undefined ? '' : `/${encodeURIComponent(query.name)}`;
  const search = queryOf({ labelSelector: query.labelSelector, fieldSelector: query.fieldSelector });
  const binary = Object.values(identities).find((identity) => groupName(identity, 'metrics') === group)?.protobufMediaType;
  const answer = await work.session.transport.open({
    path: `/apis/${group}/${VERSION}${scope}/${query.of}${name}${search === '' ? '' : `?${search}`}`,
    headers: { accept: query.binary && binary !== undefined ? `${binary}, application/json` : 'application/json' },
    signal: work.signal,
    ...work.session.timeout,
  });
  if (answer.status >= 300) throw await errorOf(answer);
  const bytes = await readAll(answer.body, MAX_BYTES);
  const type: MessageType = query.name === undefined ? listsOf[query.of] : typesOf[query.of];
  const object: unknown = isEnvelope(bytes) ? decodeProtobuf(type, decodeEnvelope(bytes).raw) : JSON.parse(bytes.toString());
  if (query.name !== undefined) return [object as T];
  return (object as { items?: T[] | null }).items ?? [];
}
