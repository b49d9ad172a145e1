/** Schemas that every group uses: the metadata of objects and lists, label selectors and conditions. */
import {
  always,
  bool,
  counter,
  fieldsV1,
  type Infer,
  int64,
  list,
  map,
  message,
  opt,
  ptr,
  req,
  string,
  time,
} from '@plat-dev/schema/types';

export const OwnerReference = message(
  'meta.v1.OwnerReference',
  {
    apiVersion: req(5, string),
    kind: req(1, string),
    name: req(3, string),
    uid: req(4, string),
    controller: ptr(6, bool),
    blockOwnerDeletion: ptr(7, bool),
  },
  { atomic: true },
);
export type OwnerReference = Infer<typeof OwnerReference>;

export const ManagedFieldsEntry = message('meta.v1.ManagedFieldsEntry', {
  manager: opt(1, string),
  operation: opt(2, string),
  apiVersion: opt(3, string),
  time: ptr(4, time),
  fieldsType: opt(6, string),
  fieldsV1: ptr(7, fieldsV1),
  subresource: opt(8, string),
});
export type ManagedFieldsEntry = Infer<typeof ManagedFieldsEntry>;

export const ObjectMeta = message('meta.v1.ObjectMeta', {
  name: opt(1, string),
  generateName: opt(2, string),
  namespace: opt(3, string),
  selfLink: opt(4, string),
  uid: opt(5, string),
  resourceVersion: opt(6, string),
  generation: opt(7, counter),
  creationTimestamp: always(8, time, { from: { '1.34': { always: false } } }),
  deletionTimestamp: ptr(9, time),
  deletionGracePeriodSeconds: ptr(10, int64),
  labels: opt(11, map(string)),
  annotations: opt(12, map(string)),
  ownerReferences: opt(13, list(OwnerReference, 'map', ['uid']), { patch: 'merge', mergeKey: 'uid' }),
  finalizers: opt(14, list(string, 'set'), { patch: 'merge' }),
  clusterName: opt(15, string, { until: '1.24' }),
  managedFields: opt(17, list(ManagedFieldsEntry)),
});
export type ObjectMeta = Infer<typeof ObjectMeta>;

const ShardInfo = message('meta.v1.ShardInfo', {
  selector: req(1, string),
});

export const ListMeta = message('meta.v1.ListMeta', {
  selfLink: opt(1, string),
  resourceVersion: opt(2, string),
  continue: opt(3, string),
  remainingItemCount: ptr(4, counter),
  shardInfo: ptr(5, ShardInfo, { since: '1.36' }),
});
export type ListMeta = Infer<typeof ListMeta>;

export const LabelSelectorRequirement = message('meta.v1.LabelSelectorRequirement', {
  key: req(1, string, { patch: 'merge', mergeKey: 'key', from: { '1.28': { patch: undefined, mergeKey: undefined } } }),
  operator: req(2, string),
  values: opt(3, list(string)),
});

export const LabelSelector = message(
  'meta.v1.LabelSelector',
  {
    matchLabels: opt(1, map(string)),
    matchExpressions: opt(2, list(LabelSelectorRequirement)),
  },
  { atomic: true },
);
export type LabelSelector = Infer<typeof LabelSelector>;

export const Condition = message('meta.v1.Condition', {
  type: req(1, string),
  status: req(2, string),
  observedGeneration: opt(3, int64),
  lastTransitionTime: req(4, time),
  reason: req(5, string),
  message: req(6, string),
});
export type Condition = Infer<typeof Condition>;
