/** Warnings of services: what has no effect, and what will be refused. */
import { Path } from '@plat-dev/meta/field';
import { domainName } from '@plat-dev/meta/identity';
import type { KindEnv } from '../../kind.ts';
import { addressWarnings, rangeWarnings } from '../../validation/addresses.ts';
import type { Service } from '../schema/service.ts';
import { headless } from './service-types.ts';

const at = Path.of('spec');

export function serviceWarnings(service: Service, _old: Service | undefined, env: KindEnv): string[] {
  if (!env.since('1.27')) return [];
  const { clusterIPs = [], externalIPs = [], loadBalancerIP = '', loadBalancerSourceRanges = [], type } = service.spec;
  const hasAddress = clusterIPs[0] !== headless && type !== 'ExternalName';
  const addresses = (name: string, ips: readonly string[]): string[] =>
    ips.flatMap((ip, i) => addressWarnings(ip, at.child(name).index(i), env));
  return [
    ...topologyWarnings(service, env),
    ...(hasAddress ? addresses('clusterIPs', clusterIPs) : []),
    ...headlessWarnings(service, env),
    ...addresses('externalIPs', externalIPs),
    ...(externalIPs.length > 0 && hasAddress && env.since('1.36')
      ? ['spec.externalIPs is deprecated and may no longer be implemented in some clusters']
      : []),
    ...addressWarnings(loadBalancerIP, at.child('loadBalancerIP'), env),
    ...loadBalancerSourceRanges.flatMap((range, i) => rangeWarnings(range.trim(), at.child('loadBalancerSourceRanges').index(i), env)),
    ...nameWarnings(service, env),
    ...(service.spec.trafficDistribution === 'PreferClose' && env.since('1.35')
      ? ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"']
      : []),
  ];
}

function topologyWarnings({ metadata: { annotations } }: Service, { identity }: KindEnv): string[] {
  const [older, newer] = [domainName(identity, 'topology-aware-hints', 'service'), domainName(identity, 'topology-mode', 'service')];
  return annotations?.[older] === undefined ? [] : [`annotation ${older} is deprecated, please use ${newer} instead`];
}

function headlessWarnings({ spec }: Service, env: KindEnv): string[] {
  if (!env.since('1.34') || spec.type !== 'ClusterIP' || spec.clusterIP !== headless) return [];
  return [
    ...((spec.loadBalancerIP ?? '') === '' ? [] : ['spec.loadBalancerIP is ignored for headless services']),
    ...((spec.externalIPs ?? []).length === 0 ? [] : ['spec.externalIPs is ignored for headless services']),
    ...(spec.sessionAffinity === 'None' ? [] : ['spec.SessionAffinity is ignored for headless services']),
  ];
}

function nameWarnings({ spec }: Service, env: KindEnv): string[] {
  if (!env.since('1.28')) return [];
  const isName = spec.type === 'ExternalName';
  return [
    ...(isName && (spec.externalIPs ?? []).length > 0 ? ['spec.externalIPs is ignored when spec.type is "ExternalName"'] : []),
    ...(!isName && (spec.externalName ?? '') !== '' ? ['spec.externalName is ignored when spec.type is not "ExternalName"'] : []),
  ];
}
