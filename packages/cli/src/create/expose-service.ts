/** The service that exposes an object: its selector, ports and protocols are found in the object. */

import { FlagError } from '@plat-dev/lib/flags';
import { own } from '@plat-dev/lib/own';
import type { JsonObject } from '@plat-dev/schema/types';
import { labelList } from '../labels/label-list.ts';

export interface ExposeOptions {
  readonly name: string;
  readonly port: string;
  readonly protocol: string;
  readonly targetPort: string;
  readonly selector: string;
  readonly labels: string;
  readonly type: string;
  readonly externalIp: string;
  readonly loadBalancerIp: string;
  readonly clusterIp: string;
  readonly sessionAffinity: string;
}

interface Exposed extends JsonObject {
  kind: string;
}
type Labels = Readonly<Record<string, string>>;
interface PodSpec {
  readonly containers?: readonly { readonly ports?: readonly { readonly containerPort: number; readonly protocol?: string }[] }[];
}
interface Spec extends PodSpec {
  readonly selector?: Labels & { readonly matchLabels?: Labels; readonly matchExpressions?: readonly unknown[] };
  readonly ports?: readonly { readonly port: number; readonly protocol?: string }[];
  readonly template?: { readonly spec?: PodSpec };
}
const specOf = ({ spec }: JsonObject): Spec => (spec ?? {}) as unknown as Spec;
const metaOf = ({ metadata }: JsonObject): { name?: string; labels?: Labels } => (metadata ?? {}) as { name?: string; labels?: Labels };

/** Kinds that can be exposed, and their groups. */
const groups: Readonly<Record<string, string>> = {
  Deployment: 'apps',
  Pod: '',
  ReplicaSet: 'apps',
  ReplicationController: '',
  Service: '',
};
export const canBeExposed = (group: string, kind: string): boolean => own(groups, kind) === group;

/** Throws an Error for an object that has no selector or ports. */
export function exposingService(object: Exposed, options: ExposeOptions): JsonObject {
  const selector = options.selector === '' ? selectorOf(object) : labelList('selector', options.selector);
  const labels = options.labels === '' ? (metaOf(object).labels ?? {}) : labelList('labels', options.labels);
  const name = options.name === '' ? (metaOf(object).name ?? '').slice(0, 63) : options.name;
  const ports = portsOf(object, options);
  const { type, externalIp, loadBalancerIp, clusterIp, sessionAffinity } = options;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, ...(Object.keys(labels).length > 0 && { labels: { ...labels } }) },
    spec: {
      ...(clusterIp !== '' && { clusterIP: clusterIp }),
      ...(externalIp !== '' && { externalIPs: [externalIp] }),
      ...(type === 'LoadBalancer' && loadBalancerIp !== '' && { loadBalancerIP: loadBalancerIp }),
      ...(ports.length > 0 && { ports }),
      selector: { ...selector },
      ...(sessionAffinity !== '' && { sessionAffinity }),
      ...(type !== '' && { type }),
    },
  };
}

function selectorOf(object: Exposed): Labels {
  const { selector } = specOf(object);
  const missing = (why: string): Error => new Error(`couldn't retrieve selectors via --selector flag or introspection: ${why}`);
  if (object.kind === 'Pod') {
    const { labels = {} } = metaOf(object);
    if (Object.keys(labels).length === 0) throw missing('the pod has no labels and cannot be exposed');
    return labels;
  }
  if (object.kind === 'Service' || object.kind === 'ReplicationController') {
    if (selector === undefined || Object.keys(selector).length === 0)
      throw missing(`the ${object.kind.toLowerCase()} has no pod selector set`);
    return selector;
  }
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  if (Object.keys(matchLabels).length === 0)
    throw missing(`invalid ${object.kind.toLowerCase()}: no selectors, therefore cannot be exposed`);
  if (matchExpressions.length > 0) throw missing('a service cannot select by match expressions');
  return matchLabels;
}

/** Of the object: port and protocol. */
function foundPorts(object: Exposed): { port: number; protocol: string | undefined }[] {
  const spec = specOf(object);
  if (object.kind === 'Service') return (spec.ports ?? []).map(({ port, protocol }) => ({ port, protocol }));
  const { containers = [] } = object.kind === 'Pod' ? spec : (spec.template?.spec ?? {});
  return containers.flatMap(({ ports = [] }) => ports.map(({ containerPort, protocol }) => ({ port: containerPort, protocol })));
}

function portsOf(object: Exposed, { port, protocol, targetPort, clusterIp }: ExposeOptions): JsonObject[] {
  const ports = foundPorts(object);
  const numbers = port === '' ? ports.map((one) => one.port) : port.split(',').map(portNumber);
  if (numbers.length === 0 && clusterIp !== 'None') throw new Error("couldn't find port via --port flag or introspection");
  const protocols = new Map(ports.map((one) => [one.port, one.protocol]));
  return numbers.map((number, i) => ({
    ...(numbers.length > 1 && { name: `port-${i + 1}` }),
    port: number,
    protocol: protocol === '' ? (protocols.get(number) ?? 'TCP') : protocol,
    targetPort: targetPort === '' ? number : /^\d+$/.test(targetPort) ? Number(targetPort) : targetPort,
  }));
}
function portNumber(text: string): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > 65535) throw new FlagError(`--port: ${JSON.stringify(text)} is not a port from 1 to 65535`);
  return number;
}
