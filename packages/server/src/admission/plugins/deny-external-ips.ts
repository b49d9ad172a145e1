/** DenyServiceExternalIPs: services cannot get new external addresses. */
import type { Service } from '@plat-dev/kinds/core/schema/service';
import { kinds, type MakePlugin } from '../plugin.ts';
import { refusal } from '../refusal.ts';

export const denyServiceExternalIPs: MakePlugin = () => ({
  name: 'DenyServiceExternalIPs',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  concerns: kinds('services'),
  validate(request) {
    if (request.subresource !== '') return;
    const externalIPs = (request.object as unknown as Service).spec.externalIPs ?? [];
    const oldIPs = new Set((request.oldObject as unknown as Service | undefined)?.spec.externalIPs ?? []);
    if (externalIPs.every((address) => oldIPs.has(address))) return;
    throw refusal(request, 'Use of external IPs is denied by admission control');
  },
});
