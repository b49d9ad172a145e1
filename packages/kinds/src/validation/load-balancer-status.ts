/** Validation of the load balancer status of services and ingresses. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { parseIP } from '@plat-dev/meta/ip';
import type { LoadBalancerStatus } from '../core/schema/service.ts';
import { subdomain } from './field-checks.ts';

export function validateLoadBalancerStatus(status: LoadBalancerStatus, at: Path, errors: FieldErrors): void {
  status.ingress?.forEach(({ ip = '', hostname = '' }, i) => {
    const point = at.child('ingress').index(i);
    if (ip !== '' && parseIP(ip) === undefined) errors.invalid(point.child('ip'), ip, 'must be a valid IP address');
    if (hostname === '') return;
    subdomain(hostname, point.child('hostname'), errors);
    if (parseIP(hostname) !== undefined) errors.invalid(point.child('hostname'), hostname, 'must be a DNS name, not an IP address');
  });
}
