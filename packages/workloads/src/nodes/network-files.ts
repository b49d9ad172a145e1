/** The files by which the processes of a container know their own name, other hosts and the name servers, as node agents write them. */
import type { WorkloadPod } from '../shared/pods.ts';

/** Longest name of a host. */
const HOSTNAME_LENGTH = 63;
/** What resolvers of C libraries take of name servers and search domains. */
const NAMESERVERS = 3;
const SEARCH_DOMAINS = 6;
const SEARCH_LENGTH = 256;

const CLUSTER_DOMAIN = 'cluster.local';
/** The name server of services with the default range of addresses. */
export const USUAL_NAMESERVER = '10.0.0.10';

export function hostnameOf({ metadata, spec }: WorkloadPod): string {
  if (spec?.hostNetwork === true) return spec.nodeName ?? '';
  const name = spec?.hostname || metadata.name || '';
  return name.length <= HOSTNAME_LENGTH ? name : name.slice(0, HOSTNAME_LENGTH).replace(/[-.]{1,63}$/, '');
}

export function networkFiles(pod: WorkloadPod, nameserver: string): [string, string][] {
  return [
    ['/etc/hostname', `${hostnameOf(pod)}\n`],
    ['/etc/hosts', hostsOf(pod)],
    ['/etc/resolv.conf', resolverOf(pod, nameserver)],
  ];
}

function hostsOf(pod: WorkloadPod): string {
  const { metadata, spec, status } = pod;
  const isOfNode = spec?.hostNetwork === true;
  const name = hostnameOf(pod);
  const full = spec?.subdomain ? `${name}.${spec.subdomain}.${metadata.namespace}.svc.${CLUSTER_DOMAIN}\t${name}` : name;
  const addresses = status?.podIPs?.map(({ ip }) => ip ?? '') ?? [status?.podIP ?? ''];
  const lines = [
    isOfNode ? '# Kubernetes-managed hosts file (host network).' : '# Kubernetes-managed hosts file.',
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    'fe00::0\tip6-localnet',
    'fe00::0\tip6-mcastprefix',
    'fe00::1\tip6-allnodes',
    'fe00::2\tip6-allrouters',
    ...addresses.map((address) => `${address}\t${full}`),
  ];
  const aliases = (spec?.hostAliases ?? []).map(({ ip, hostnames }) => [ip, ...(hostnames ?? [])].join('\t'));
  return [...lines, ...(aliases.length > 0 ? ['', '# Entries added by HostAliases.', ...aliases] : []), ''].join('\n');
}

interface Resolver {
  readonly nameservers: readonly string[];
  readonly searches: readonly string[];
  /** Values by name; empty for options without one. */
  readonly options: readonly (readonly [string, string])[];
}
/** A node has no resolver of its own. */
const ofNode: Resolver = { nameservers: ['127.0.0.1'], searches: ['.'], options: [] };
const nothing: Resolver = { nameservers: [], searches: [], options: [] };

function resolverOf(pod: WorkloadPod, nameserver: string): string {
  const { dnsConfig } = pod.spec ?? {};
  const base = usualResolver(pod, nameserver);
  const nameservers = [...new Set([...base.nameservers, ...(dnsConfig?.nameservers ?? [])])].slice(0, NAMESERVERS);
  const searches = [...new Set([...base.searches, ...(dnsConfig?.searches ?? [])])].slice(0, SEARCH_DOMAINS);
  while (searches.join(' ').length > SEARCH_LENGTH) searches.pop();
  const givenOptions = (dnsConfig?.options ?? []).map(({ name = '', value }) => [name, value ?? ''] as const);
  const options = [...new Map([...base.options, ...givenOptions])].map(([name, value]) => (value === '' ? name : `${name}:${value}`));
  return [
    ...(searches.length > 0 ? [`search ${searches.join(' ')}`] : []),
    ...nameservers.map((address) => `nameserver ${address}`),
    ...(options.length > 0 ? [`options ${options.join(' ')}`] : []),
    '',
  ].join('\n');
}

function usualResolver({ metadata, spec }: WorkloadPod, nameserver: string): Resolver {
  const policy = spec?.dnsPolicy ?? 'ClusterFirst';
  if (policy === 'None') return nothing;
  if (policy === 'Default' || (policy === 'ClusterFirst' && spec?.hostNetwork === true)) return ofNode;
  const searches = [`${metadata.namespace}.svc.${CLUSTER_DOMAIN}`, `svc.${CLUSTER_DOMAIN}`, CLUSTER_DOMAIN];
  return { nameservers: [nameserver], searches, options: [['ndots', '5']] };
}
