/** The load balancer status of services and ingresses. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { parseIP } from '@plat-dev/meta/ip';
import type { KindEnv } from '../kind.ts';
import { address, addressWarnings } from './addresses.ts';
import { subdomain } from './field-checks.ts';

interface Point {
  readonly ip?: string;
  readonly hostname?: string;
}
interface Status<P extends Point = Point> {
  readonly ingress?: readonly P[];
}
const points = Path.of('status', 'loadBalancer', 'ingress');

/** `check` has further rules of a point. */
export function validateLoadBalancerStatus<P extends Point>(
  status: Status<P>,
  old: Status,
  errors: FieldErrors,
  env: KindEnv,
  check?: (point: P, at: Path) => void,
): void {
  const stored = (old.ingress ?? []).map(({ ip = '' }) => ip);
  status.ingress?.forEach((point, i) => {
    const at = points.index(i);
    const { ip = '', hostname = '' } = point;
    if (ip !== '' && env.since('1.33')) address(ip, at.child('ip'), errors, env, stored);
    else if (ip !== '' && parseIP(ip) === undefined) errors.invalid(at.child('ip'), ip, 'must be a valid IP address');
    check?.(point, at);
    if (hostname === '') return;
    subdomain(hostname, at.child('hostname'), errors);
    if (parseIP(hostname) !== undefined) errors.invalid(at.child('hostname'), hostname, 'must be a DNS name, not an IP address');
  });
}

export const loadBalancerWarnings = ({ ingress }: Status, env: KindEnv): string[] =>
  env.since('1.33') ? (ingress ?? []).flatMap(({ ip = '' }, i) => addressWarnings(ip, points.index(i), env)) : [];
