/** APIServices. */
import { always, bool, bytes, type Infer, int32, list, message, object, opt, ptr, req, string, time } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';

export const ServiceReference = message('apiregistration.v1.ServiceReference', {
  namespace: opt(1, string),
  name: opt(2, string),
  port: ptr(3, int32, { default: 443 }),
});
export type ServiceReference = Infer<typeof ServiceReference>;

export const APIServiceSpec = message('apiregistration.v1.APIServiceSpec', {
  service: ptr(1, ServiceReference),
  group: opt(2, string),
  version: opt(3, string),
  insecureSkipTLSVerify: opt(4, bool),
  caBundle: opt(5, bytes),
  groupPriorityMinimum: req(7, int32),
  versionPriority: req(8, int32),
});
export type APIServiceSpec = Infer<typeof APIServiceSpec>;

export const APIServiceCondition = message('apiregistration.v1.APIServiceCondition', {
  type: req(1, string),
  status: req(2, string),
  lastTransitionTime: always(3, time),
  reason: opt(4, string),
  message: opt(5, string),
});
export type APIServiceCondition = Infer<typeof APIServiceCondition>;

const APIServiceStatus = message('apiregistration.v1.APIServiceStatus', {
  conditions: opt(1, list(APIServiceCondition, 'map', ['type']), { patch: 'merge', mergeKey: 'type' }),
});

export const APIService = object('apiregistration.v1.APIService', {
  metadata: always(1, ObjectMeta),
  spec: always(2, APIServiceSpec),
  status: always(3, APIServiceStatus),
});
export type APIService = Infer<typeof APIService>;
