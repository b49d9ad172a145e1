/** Addresses of services, and the ranges that they are taken from. */
import { always, type Infer, list, message, object, opt, ptr, string } from '@plat-dev/schema/types';
import { Condition, ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';

export const ParentReference = message('networking.v1.ParentReference', {
  group: opt(1, string),
  resource: opt(2, string, { from: { '1.30': { required: true } } }),
  namespace: opt(3, string),
  name: opt(4, string, { from: { '1.30': { required: true } } }),
  uid: opt(5, string, { until: '1.28' }),
});
export type ParentReference = Infer<typeof ParentReference>;

const IPAddressSpec = message('networking.v1.IPAddressSpec', {
  parentRef: ptr(1, ParentReference, { from: { '1.30': { required: true } } }),
});

export const IPAddress = object('networking.v1.IPAddress', {
  metadata: always(1, ObjectMeta),
  spec: always(2, IPAddressSpec, { from: { '1.36': { required: true } } }),
});
export type IPAddress = Infer<typeof IPAddress>;

const ServiceCIDRSpec = message('networking.v1.ServiceCIDRSpec', {
  cidrs: opt(1, list(string)),
});

const ServiceCIDRStatus = message('networking.v1.ServiceCIDRStatus', {
  conditions: opt(1, list(Condition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
});

export const ServiceCIDR = object('networking.v1.ServiceCIDR', {
  metadata: always(1, ObjectMeta),
  spec: always(2, ServiceCIDRSpec),
  status: always(3, ServiceCIDRStatus),
});
export type ServiceCIDR = Infer<typeof ServiceCIDR>;

/** The same fields in older versions. */
export const olderAddress = (version: string) => inVersion(IPAddress, `networking.${version}`);
export const olderRange = (version: string) => inVersion(ServiceCIDR, `networking.${version}`);
