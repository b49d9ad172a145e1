/** Rules of the status of services. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import type { KindEnv } from '../../kind.ts';
import { validateLoadBalancerStatus } from '../../validation/load-balancer-status.ts';
import { metadataUpdateAgain } from '../../validation/repeated-metadata.ts';
import type { LoadBalancerStatus, Service } from '../schema/service.ts';

const ingressPath = Path.of('status', 'loadBalancer', 'ingress');
type Point = NonNullable<LoadBalancerStatus['ingress']>[number];

/** Whether addresses say how they lead to the nodes. */
const hasModes = (env: KindEnv): boolean => env.since('1.29') && env.feature('LoadBalancerIPMode');
const modes = ['Proxy', 'VIP'];

export function fillModes({ status: { loadBalancer } }: Service, env: KindEnv): void {
  if (!hasModes(env)) return;
  for (const point of loadBalancer.ingress ?? []) if ((point.ip ?? '') !== '') point.ipMode ??= 'VIP';
}

function validateMode({ ip = '', ipMode }: Point, at: Path, errors: FieldErrors): void {
  if (ipMode === undefined) {
    if (ip !== '') errors.required(at, 'must be specified when `ip` is set');
  } else if (ip === '') errors.forbidden(at, 'may not be specified when `ip` is not set');
  else if (!modes.includes(ipMode)) errors.notSupported(at, ipMode, modes);
}

export function validateServiceStatus(service: Service, old: Service, errors: FieldErrors, env: KindEnv): void {
  metadataUpdateAgain(service, old, errors, env);
  const { spec, status } = service;
  const onlyLoadBalancers = env.since('1.29') && !env.feature('AllowServiceLBStatusOnNonLB');
  if (onlyLoadBalancers && spec.type !== 'LoadBalancer' && (status.loadBalancer.ingress ?? []).length > 0)
    errors.forbidden(ingressPath, "may only be used when `spec.type` is 'LoadBalancer'");
  else
    validateLoadBalancerStatus(status.loadBalancer, old.status.loadBalancer, errors, env, (point, at) => {
      if (hasModes(env)) validateMode(point, at.child('ipMode'), errors);
    });
}
