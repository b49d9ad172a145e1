import type { Descriptions } from '../../description-texts.ts';

const ports = 'Destination ports that are allowed. Empty means all ports.';

export const networking: Descriptions = {
  'networking.Ingress': {
    $: 'Rules by which an ingress controller leads HTTP traffic from outside to services.',
    spec: 'Hosts, paths and the backends that they lead to.',
    status: 'Where the ingress can be reached.',
  },
  'networking.IngressSpec': {
    $: 'The rules of an ingress. It has a default backend, rules, or both.',
    ingressClassName: 'IngressClass whose controller serves the ingress. Without it a default class applies, if there is one.',
    defaultBackend: 'Backend of requests that no rule matches. Without it the controller decides.',
    tls: 'Certificates for host names. If hosts overlap, controllers that support it choose by the host that the client names.',
    rules: 'Hosts and paths with their backends. Without rules all traffic goes to the default backend.',
  },
  'networking.IngressRule': {
    $: 'The paths of one host.',
    host: 'Domain name of the host, without a port. *.example.com matches names with one more label; empty matches every host.',
    http: 'Paths of the host and their backends. Without it all requests of the host go to the default backend.',
  },
  'networking.HTTPIngressRuleValue': { $: 'HTTP paths and their backends.', paths: 'Paths with their backends, at least one.' },
  'networking.HTTPIngressPath': {
    $: 'A path and the backend that it leads to.',
    path: 'Path to compare, which must begin with / for the types Exact and Prefix.',
    pathType: 'Exact matches the path itself, Prefix everything below it by path elements, ImplementationSpecific as the controller likes.',
    backend: 'Where matching requests are sent.',
  },
  'networking.IngressBackend': {
    $: 'Where requests are sent: a service or another object. Exactly one is set.',
    service: 'Port of a service that takes the requests.',
    resource: 'Object of the same namespace that takes the requests, such as a storage bucket.',
  },
  'networking.IngressServiceBackend': {
    $: 'A port of a service.',
    name: 'Name of a service in the namespace of the ingress.',
    port: 'Port of the service, by name or by number. Required.',
  },
  'networking.ServiceBackendPort': {
    $: 'A port of a service; exactly one of name and number is set.',
    name: 'Port by its name in the service.',
    number: 'Port by its number, from 1 to 65535.',
  },
  'networking.IngressTLS': {
    $: 'A certificate for host names.',
    hosts: 'Hosts that the certificate contains. Defaults to all hosts that the controller serves for the ingress.',
    secretName: 'Secret with the certificate and its key. Without it only the host name is routed, and the backend ends TLS.',
  },
  'networking.IngressStatus': { $: 'The observed state of an ingress.', loadBalancer: 'Addresses of the load balancer that serves it.' },
  'networking.IngressLoadBalancerStatus': {
    $: 'The observed state of the load balancer of an ingress.',
    ingress: 'Points at which traffic for the ingress enters.',
  },
  'networking.IngressLoadBalancerIngress': {
    $: 'A point at which traffic for an ingress enters.',
    ip: 'IP address of the point, for load balancers that have one.',
    hostname: 'Host name of the point, for load balancers that are found by DNS.',
    ports: 'State of each port of the point, where the provider reports it.',
  },
  'networking.IngressPortStatus': {
    $: 'The observed state of a port of the load balancer of an ingress.',
    port: 'Number of the port that the state is about.',
    protocol: 'Protocol of that port: TCP, UDP or SCTP.',
    error: 'Why the port could not be set up, as one CamelCase word, possibly with a domain prefix.',
  },
  'networking.IngressClass': {
    $: 'A class of ingresses that one controller serves. An annotation makes one the default.',
    spec: 'Controller of the class and its parameters.',
  },
  'networking.IngressClassSpec': {
    $: 'The controller of an ingress class.',
    controller: 'Name of the controller as domain/path, at most 250 characters. Cannot be changed.',
    parameters: 'Object with further settings, in a kind that the controller knows.',
  },
  'networking.IngressClassParametersReference': {
    $: 'A reference to an object with settings of an ingress class.',
    apiGroup: 'API group of the settings object; empty for the core group.',
    kind: 'Kind of the settings object.',
    name: 'Name of the settings object.',
    scope: 'Whether the object is Cluster or Namespace scoped. Defaults to Cluster.',
    namespace: 'Namespace of the settings object. Required for the scope Namespace, not allowed for Cluster.',
  },
  'networking.NetworkPolicy': {
    $: 'Which network traffic is allowed for a set of pods. Pods that no policy selects are not restricted.',
    spec: 'Selected pods and their allowed traffic.',
    status: 'Whether the network plug-in could apply the policy. An alpha feature.',
  },
  'networking.NetworkPolicySpec': {
    $: 'The pods of a network policy and the traffic that it allows. Policies for the same pod add up.',
    podSelector: 'Selects the pods that the policy applies to, in its namespace. An empty selector selects all of them.',
    ingress: 'Incoming traffic that is allowed: what matches at least one rule. If it is empty, nothing is.',
    egress: 'Outgoing traffic that is allowed: what matches at least one rule. If it is empty, nothing is.',
    policyTypes:
      'Directions that the policy restricts: Ingress, Egress or both. Defaults to Ingress, and to both if there are egress rules.',
  },
  'networking.NetworkPolicyIngressRule': {
    $: 'Incoming traffic that is allowed: it must match a port and a source.',
    ports,
    from: 'Sources that are allowed. Empty means all sources.',
  },
  'networking.NetworkPolicyEgressRule': {
    $: 'Outgoing traffic that is allowed: it must match a port and a destination.',
    ports,
    to: 'Destinations that are allowed. Empty means all destinations.',
  },
  'networking.NetworkPolicyPeer': {
    $: 'The other side of traffic: pods, or addresses. ipBlock excludes both selectors.',
    podSelector: 'Selects pods by their labels: those of the selected namespaces, or else of the namespace of the policy.',
    namespaceSelector: 'Selects namespaces by their labels. Without a podSelector all of their pods are meant.',
    ipBlock: 'Range of IP addresses, instead of pods.',
  },
  'networking.NetworkPolicyPort': {
    $: 'A port or a range of ports.',
    protocol: 'Protocol of the traffic: TCP, UDP or SCTP. Defaults to TCP.',
    port: 'Port by number, or by the name that it has in the pod. Without it all ports match.',
    endPort: 'Last port of a range that starts with port, which must be a number and not greater.',
  },
  'networking.IPBlock': {
    $: 'A range of IP addresses, with exceptions.',
    cidr: 'Range in CIDR notation, such as 192.168.1.0/24 or 2001:db8::/64.',
    except: 'Ranges within cidr that are left out.',
  },
  'networking.NetworkPolicyStatus': {
    $: 'The observed state of a network policy.',
    conditions: 'Observed conditions, at most one of each type.',
  },
};
