/** Endpoint slices. */
import { always, bool, type Infer, int32, list, map, message, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { ObjectReference } from '../../core/schema/references.ts';
import { ObjectMeta } from '../../meta.ts';
import { pointerValues } from '../../published-values.ts';

export const EndpointConditions = message('discovery.v1.EndpointConditions', {
  ready: ptr(1, bool),
  serving: ptr(2, bool, { gate: 'EndpointSliceTerminatingCondition' }),
  terminating: ptr(3, bool, { gate: 'EndpointSliceTerminatingCondition' }),
});
export type EndpointConditions = Infer<typeof EndpointConditions>;

const ForZone = message('discovery.v1.ForZone', {
  name: req(1, string),
});

const ForNode = message('discovery.v1.ForNode', {
  name: req(1, string),
});

export const EndpointHints = message('discovery.v1.EndpointHints', {
  forZones: opt(1, list(ForZone)),
  forNodes: opt(2, list(ForNode), { since: '1.33', gate: 'PreferSameTrafficDistribution' }),
});
export type EndpointHints = Infer<typeof EndpointHints>;

export const Endpoint = message('discovery.v1.Endpoint', {
  addresses: req(1, list(string, 'set')),
  conditions: always(2, EndpointConditions),
  hostname: ptr(3, string),
  targetRef: ptr(4, ObjectReference),
  deprecatedTopology: opt(5, map(string)),
  nodeName: ptr(6, string),
  zone: ptr(7, string),
  hints: ptr(8, EndpointHints, { gate: 'TopologyAwareHints' }),
});
export type Endpoint = Infer<typeof Endpoint>;

export const EndpointPort = message(
  'discovery.v1.EndpointPort',
  {
    name: ptr(1, string, { default: '' }),
    protocol: ptr(2, string, { default: 'TCP', ...pointerValues('SCTP', 'TCP', 'UDP') }),
    port: ptr(3, int32),
    appProtocol: ptr(4, string),
  },
  { atomic: true },
);
export type EndpointPort = Infer<typeof EndpointPort>;

export const EndpointSlice = object('discovery.v1.EndpointSlice', {
  metadata: always(1, ObjectMeta),
  addressType: req(4, string, { enum: ['FQDN', 'IPv4', 'IPv6'] }),
  endpoints: req(2, list(Endpoint), { from: { '1.36': { required: false } } }),
  ports: always(3, list(EndpointPort)),
});
export type EndpointSlice = Infer<typeof EndpointSlice>;
