/** Network policies. */
import type {
  NetworkPolicy,
  NetworkPolicyEgressRule,
  NetworkPolicyIngressRule,
  NetworkPolicyPeer,
} from '@plat-dev/kinds/networking/schema/network-policy';
import type { Describer } from './describer.ts';
import type { Page } from './page.ts';
import { orNone, type ReadForm, selectorOrNone, selectorText, timeWithZone } from './values.ts';

export const describeNetworkPolicy: Describer<NetworkPolicy> = {
  events: false,
  async write(page, { metadata, spec = {} }) {
    page.field('Name', metadata.name).field('Namespace', metadata.namespace).field('Created on', timeWithZone(metadata.creationTimestamp));
    page.labels('Labels', metadata.labels).annotations('Annotations', metadata.annotations).heading('Spec');
    const below = page.at(1);
    const pods = selectorText(spec.podSelector ?? {});
    // The selector is indented once more, although it stands on the same line.
    below
      .write('PodSelector: ')
      .at(1)
      .line(pods === '' ? '<none> (Allowing the specific traffic to all pods in this namespace)' : pods);
    const { policyTypes = [] } = spec;
    if (policyTypes.includes('Ingress')) writeRules(below.line('Allowing ingress traffic:').at(1), ingress, spec.ingress);
    else below.line('Not affecting ingress traffic');
    if (policyTypes.includes('Egress')) writeRules(below.line('Allowing egress traffic:').at(1), egress, spec.egress);
    else below.line('Not affecting egress traffic');
    below.line(`Policy Types: ${orNone(policyTypes.join(', '))}`);
  },
};

interface Direction {
  readonly isolated: string;
  readonly peers: 'from' | 'to';
  readonly title: string;
  readonly any: string;
}
const ingress: Direction = {
  isolated: '<none> (Selected pods are isolated for ingress connectivity)',
  peers: 'from',
  title: 'From:',
  any: 'From: <any> (traffic not restricted by source)',
};
const egress: Direction = {
  isolated: '<none> (Selected pods are isolated for egress connectivity)',
  peers: 'to',
  title: 'To:',
  any: 'To: <any> (traffic not restricted by destination)',
};

type Rule = ReadForm<NetworkPolicyIngressRule & NetworkPolicyEgressRule>;
function writeRules(page: Page, { isolated, peers, title, any }: Direction, rules: readonly Rule[] = []): void {
  if (rules.length === 0) page.line(isolated);
  rules.forEach((rule, i) => {
    if (i > 0) page.line('----------');
    const { ports = [] } = rule;
    if (ports.length === 0) page.line('To Port: <any> (traffic allowed to all ports)');
    for (const { port, protocol = 'TCP' } of ports) page.line(`To Port: ${port ?? '<nil>'}/${protocol}`);
    const allowed = rule[peers] ?? [];
    if (allowed.length === 0) page.line(any);
    for (const peer of allowed) writePeer(page.line(title).at(1), peer);
  });
}
function writePeer(page: Page, { namespaceSelector, podSelector, ipBlock }: ReadForm<NetworkPolicyPeer>): void {
  if (namespaceSelector !== undefined) page.line(`NamespaceSelector: ${selectorOrNone(namespaceSelector)}`);
  if (podSelector !== undefined) page.line(`PodSelector: ${selectorOrNone(podSelector)}`);
  if (namespaceSelector !== undefined || podSelector !== undefined || ipBlock === undefined) return;
  page
    .line('IPBlock:')
    .at(1)
    .line(`CIDR: ${ipBlock.cidr ?? ''}`)
    .line(`Except: ${(ipBlock.except ?? []).join(', ')}`);
}
