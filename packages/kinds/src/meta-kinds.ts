/** Kinds of every group version: responses, discovery documents, options of requests, and views of other objects. */
import {
  always,
  bool,
  boxed,
  type Infer,
  int32,
  int64,
  json,
  list,
  message,
  object,
  opt,
  ptr,
  raw,
  req,
  string,
} from '@plat-dev/schema/types';
import { ListMeta, ObjectMeta } from './meta.ts';

// ---- responses -------------------------------------------------------------------------------------------------

const StatusCause = message('meta.v1.StatusCause', {
  reason: opt(1, string),
  message: opt(2, string),
  field: opt(3, string),
});

const StatusDetails = message('meta.v1.StatusDetails', {
  name: opt(1, string),
  group: opt(2, string),
  kind: opt(3, string),
  uid: opt(6, string),
  causes: opt(4, list(StatusCause)),
  retryAfterSeconds: opt(5, int32),
});

export const Status = object('meta.v1.Status', {
  metadata: always(1, ListMeta),
  status: opt(2, string),
  message: opt(3, string),
  reason: opt(4, string),
  details: ptr(5, StatusDetails),
  code: opt(6, int32),
});
export type Status = Infer<typeof Status>;

/** An event of a watch is the only kind without `kind` and `apiVersion` in JSON. */
export const WatchEvent = message('meta.v1.WatchEvent', {
  type: req(1, string),
  object: req(2, raw),
});
export type WatchEvent = Infer<typeof WatchEvent>;

// ---- discovery -------------------------------------------------------------------------------------------------

const GroupVersionForDiscovery = message('meta.v1.GroupVersionForDiscovery', {
  groupVersion: req(1, string),
  version: req(2, string),
});

const ServerAddressByClientCIDR = message('meta.v1.ServerAddressByClientCIDR', {
  clientCIDR: req(1, string),
  serverAddress: req(2, string),
});

export const APIVersions = object('meta.v1.APIVersions', {
  versions: req(1, list(string)),
  serverAddressByClientCIDRs: req(2, list(ServerAddressByClientCIDR)),
});
export type APIVersions = Infer<typeof APIVersions>;

export const APIGroup = object('meta.v1.APIGroup', {
  name: req(1, string),
  versions: req(2, list(GroupVersionForDiscovery)),
  preferredVersion: always(3, GroupVersionForDiscovery),
  serverAddressByClientCIDRs: opt(4, list(ServerAddressByClientCIDR)),
});
export type APIGroup = Infer<typeof APIGroup>;

export const APIGroupList = object('meta.v1.APIGroupList', {
  groups: req(1, list(APIGroup)),
});
export type APIGroupList = Infer<typeof APIGroupList>;

export const APIResource = message('meta.v1.APIResource', {
  name: req(1, string),
  singularName: req(6, string),
  namespaced: req(2, bool),
  group: opt(8, string),
  version: opt(9, string),
  kind: req(3, string),
  verbs: req(4, boxed(list(string))),
  shortNames: opt(5, list(string)),
  categories: opt(7, list(string)),
  storageVersionHash: opt(10, string),
});
export type APIResource = Infer<typeof APIResource>;

export const APIResourceList = object('meta.v1.APIResourceList', {
  groupVersion: req(1, string),
  resources: req(2, list(APIResource)),
});
export type APIResourceList = Infer<typeof APIResourceList>;

// ---- options of requests ---------------------------------------------------------------------------------------

const Preconditions = message('meta.v1.Preconditions', {
  uid: ptr(1, string),
  resourceVersion: ptr(2, string),
});

export const DeleteOptions = object('meta.v1.DeleteOptions', {
  gracePeriodSeconds: ptr(1, int64),
  preconditions: ptr(2, Preconditions),
  orphanDependents: ptr(3, bool),
  propagationPolicy: ptr(4, string),
  dryRun: opt(5, list(string)),
  ignoreStoreReadErrorWithClusterBreakingPotential: ptr(6, bool, { since: '1.32' }),
});
export type DeleteOptions = Infer<typeof DeleteOptions>;

export const CreateOptions = object('meta.v1.CreateOptions', {
  dryRun: opt(1, list(string)),
  fieldManager: opt(3, string),
  fieldValidation: opt(4, string),
});
export type CreateOptions = Infer<typeof CreateOptions>;

export const UpdateOptions = object('meta.v1.UpdateOptions', {
  dryRun: opt(1, list(string)),
  fieldManager: opt(2, string),
  fieldValidation: opt(3, string),
});
export type UpdateOptions = Infer<typeof UpdateOptions>;

export const PatchOptions = object('meta.v1.PatchOptions', {
  dryRun: opt(1, list(string)),
  force: ptr(2, bool),
  fieldManager: opt(3, string),
  fieldValidation: opt(4, string),
});
export type PatchOptions = Infer<typeof PatchOptions>;

export const ApplyOptions = object('meta.v1.ApplyOptions', {
  dryRun: opt(1, list(string)),
  force: always(2, bool),
  fieldManager: always(3, string),
});
export type ApplyOptions = Infer<typeof ApplyOptions>;

export const GetOptions = object('meta.v1.GetOptions', {
  resourceVersion: opt(1, string),
});
export type GetOptions = Infer<typeof GetOptions>;

export const ListOptions = object('meta.v1.ListOptions', {
  labelSelector: opt(1, string),
  fieldSelector: opt(2, string),
  watch: opt(3, bool),
  allowWatchBookmarks: opt(9, bool),
  resourceVersion: opt(4, string),
  resourceVersionMatch: opt(10, string),
  timeoutSeconds: ptr(5, int64),
  limit: opt(7, int64),
  continue: opt(8, string),
  sendInitialEvents: ptr(11, bool, { since: '1.27' }),
  shardSelector: opt(15, string, { since: '1.36' }),
});
export type ListOptions = Infer<typeof ListOptions>;

export const TableOptions = object('meta.v1.TableOptions', {
  includeObject: opt(1, string),
});
export type TableOptions = Infer<typeof TableOptions>;

// ---- views of other objects ------------------------------------------------------------------------------------

export const PartialObjectMetadata = object('meta.v1.PartialObjectMetadata', {
  metadata: always(1, ObjectMeta),
});
export type PartialObjectMetadata = Infer<typeof PartialObjectMetadata>;

export const PartialObjectMetadataList = object('meta.v1.PartialObjectMetadataList', {
  metadata: always(1, ListMeta),
  items: req(2, list(PartialObjectMetadata)),
});
export type PartialObjectMetadataList = Infer<typeof PartialObjectMetadataList>;

/** A list of objects of any kind. */
export const List = object('meta.v1.List', {
  metadata: always(1, ListMeta),
  items: req(2, list(raw)),
});
export type List = Infer<typeof List>;

/** Tables have no binary form, hence no tags. */
const text = { only: 'json' } as const;

const TableColumnDefinition = message('meta.v1.TableColumnDefinition', {
  name: req(0, string, text),
  type: req(0, string, text),
  format: req(0, string, text),
  description: req(0, string, text),
  priority: req(0, int32, text),
});

const TableRowCondition = message('meta.v1.TableRowCondition', {
  type: req(0, string, text),
  status: req(0, string, text),
  reason: opt(0, string, text),
  message: opt(0, string, text),
});

const TableRow = message('meta.v1.TableRow', {
  cells: req(0, list(json), text),
  conditions: opt(0, list(TableRowCondition), text),
  object: always(0, raw, text),
});

export const Table = object('meta.v1.Table', {
  metadata: always(0, ListMeta, text),
  columnDefinitions: req(0, list(TableColumnDefinition), text),
  rows: req(0, list(TableRow), text),
});
export type Table = Infer<typeof Table>;

// ---- names -----------------------------------------------------------------------------------------------------

export const GroupVersionKind = message('meta.v1.GroupVersionKind', {
  group: always(1, string),
  version: always(2, string),
  kind: always(3, string),
});
export type GroupVersionKind = Infer<typeof GroupVersionKind>;

export const GroupVersionResource = message('meta.v1.GroupVersionResource', {
  group: always(1, string),
  version: always(2, string),
  resource: always(3, string),
});
export type GroupVersionResource = Infer<typeof GroupVersionResource>;
