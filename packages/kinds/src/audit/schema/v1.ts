/** Audit events and the audit policy file. */
import { always, bool, type Infer, list, map, message, microTime, object, opt, ptr, raw, string } from '@plat-dev/schema/types';
import { UserInfo } from '../../authentication/schema/v1.ts';
import { ObjectMeta } from '../../meta.ts';
import { Status } from '../../meta-kinds.ts';

const ObjectReference = message('audit.v1.ObjectReference', {
  resource: opt(1, string),
  namespace: opt(2, string),
  name: opt(3, string),
  uid: opt(4, string),
  apiGroup: opt(5, string),
  apiVersion: opt(6, string),
  resourceVersion: opt(7, string),
  subresource: opt(8, string),
});

export const Event = object('audit.v1.Event', {
  level: always(1, string),
  auditID: always(2, string),
  stage: always(3, string),
  requestURI: always(4, string),
  verb: always(5, string),
  user: always(6, UserInfo),
  impersonatedUser: ptr(7, UserInfo),
  sourceIPs: opt(8, list(string)),
  userAgent: opt(16, string),
  objectRef: ptr(9, ObjectReference),
  responseStatus: ptr(10, Status),
  requestObject: ptr(11, raw),
  responseObject: ptr(12, raw),
  requestReceivedTimestamp: always(13, microTime),
  stageTimestamp: always(14, microTime),
  annotations: opt(15, map(string)),
});
export type Event = Infer<typeof Event>;

const GroupResources = message('audit.v1.GroupResources', {
  group: opt(1, string),
  resources: opt(2, list(string)),
  resourceNames: opt(3, list(string)),
});

export const PolicyRule = message('audit.v1.PolicyRule', {
  level: always(1, string),
  users: opt(2, list(string)),
  userGroups: opt(3, list(string)),
  verbs: opt(4, list(string)),
  resources: opt(5, list(GroupResources)),
  namespaces: opt(6, list(string)),
  nonResourceURLs: opt(7, list(string)),
  omitStages: opt(8, list(string)),
  omitManagedFields: ptr(9, bool),
});
export type PolicyRule = Infer<typeof PolicyRule>;

export const Policy = object('audit.v1.Policy', {
  metadata: always(1, ObjectMeta),
  rules: always(2, list(PolicyRule)),
  omitStages: opt(3, list(string)),
  omitManagedFields: opt(4, bool),
});
export type Policy = Infer<typeof Policy>;
