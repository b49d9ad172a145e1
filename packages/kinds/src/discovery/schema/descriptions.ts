import type { Descriptions } from '../../description-texts.ts';

export const discovery: Descriptions = {
  'discovery.EndpointSlice': {
    $: 'A part of the endpoints of a service. All slices of a service together list every endpoint.',
    addressType: 'Type of all addresses of the slice: IPv4, IPv6 or FQDN. Cannot be changed.',
    endpoints: 'Endpoints of the slice, at most 1000.',
    ports: 'Ports that every endpoint of the slice serves, at most 100, with distinct names. Empty means none are defined.',
  },
  'discovery.Endpoint': {
    $: 'A logical backend of a service.',
    addresses: 'Addresses of the endpoint, from 1 to 100, which are interchangeable. Clients usually use the first.',
    conditions: 'Whether the endpoint can take traffic.',
    hostname: 'Host name of the endpoint, a DNS label, used in DNS records of headless services.',
    targetRef: 'Object that provides the endpoint, usually a pod.',
    deprecatedTopology:
      'Topology of the endpoint, as v1beta1 has it. It cannot be set through v1; zone and nodeName have fields of their own.',
    nodeName: 'Node that hosts the endpoint.',
    zone: 'Zone that the endpoint is in.',
    hints: 'How the endpoint should be used, for routing that stays in a zone.',
    topology: 'Topology of the endpoint, as labels of its node; at most 16 entries.',
  },
  'discovery.EndpointConditions': {
    $: 'Whether an endpoint can take traffic.',
    ready: 'Whether new traffic may be sent to the endpoint. Unknown counts as ready; it is false for terminating endpoints.',
    serving: 'Like ready, but also for terminating endpoints, so that traffic can be drained. Unknown counts as the value of ready.',
    terminating: 'Whether the endpoint is being deleted. Unknown counts as false.',
  },
  'discovery.EndpointHints': {
    $: 'Hints on how an endpoint should be used.',
    forZones: 'Zones whose traffic the endpoint should take, at most 8.',
    forNodes: 'Nodes whose traffic the endpoint should take, at most 8.',
  },
  'discovery.ForZone': { $: 'A zone whose traffic an endpoint should take.', name: 'Name of the zone, as nodes have it in their labels.' },
  'discovery.ForNode': { $: 'A node whose traffic an endpoint should take.', name: 'Name of the node.' },
  'discovery.EndpointPort': {
    $: 'A port that endpoints serve.',
    name: 'Name of the port, unique within the slice, equal to that of the service port. Defaults to the empty text.',
    protocol: 'Protocol of the port: TCP, UDP or SCTP. Defaults to TCP.',
    port: 'Number of the port. Without it the port is not restricted, as the consumer of the slice interprets it.',
    appProtocol: 'Application protocol of the port, such as http or a name with a domain prefix.',
  },
};
