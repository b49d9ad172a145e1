/**
 * The schema of every kind that may be in a body or an envelope: the served kinds and their lists, the kinds of
 * every group version, and kinds that are never stored (options, reviews, requests to webhooks).
 */
import { type ApiRelease, apiRelease } from '@plat-dev/lib/version';
import { type Identity, plat } from '@plat-dev/meta/identity';
import { schemaIn } from '@plat-dev/schema/releases';
import type { MessageType } from '@plat-dev/schema/types';
import * as admissionV1 from './admission/schema/v1.ts';
import * as admissionV1beta1 from './admission/schema/v1beta1.ts';
import { ConversionReview } from './apiextensions/schema/v1.ts';
import { StorageVersion } from './apiserverinternal/schema/v1alpha1.ts';
import * as audit from './audit/schema/v1.ts';
import { TokenRequest } from './authentication/schema/v1.ts';
import * as authenticationV1beta1 from './authentication/schema/v1beta1.ts';
import { Scale } from './autoscaling/schema/scale.ts';
import { JobTemplate } from './batch/schema/v1beta1.ts';
import { RangeAllocation, SerializedReference } from './core/schema/cluster.ts';
import { PodStatusResult } from './core/schema/pods/pod.ts';
import * as options from './core/schema/pods/pod-options.ts';
import { DeletionExplanation, PendingExplanation, ReadinessExplanation } from './explain/schema/object-explanations.ts';
import { RefusalSearch } from './explain/schema/refusals.ts';
import { SlowRequestSearch } from './explain/schema/slow-requests.ts';
import * as explain from './explain/schema/v1alpha1.ts';
import { ImageReview } from './imagepolicy/schema/v1alpha1.ts';
import { builtinKinds } from './index.ts';
import { listSchema, listSchemaIn } from './lists.ts';
import * as meta from './meta-kinds.ts';
import * as policyV1 from './policy/schema/v1.ts';
import * as policyV1beta1 from './policy/schema/v1beta1.ts';
import * as storageV1beta1 from './storage/schema/v1beta1.ts';

/** Kinds of every group version. */
const everywhere: readonly MessageType[] = [
  meta.Status,
  meta.WatchEvent,
  meta.APIVersions,
  meta.APIGroup,
  meta.APIGroupList,
  meta.APIResourceList,
  meta.CreateOptions,
  meta.UpdateOptions,
  meta.PatchOptions,
  meta.ApplyOptions,
  meta.DeleteOptions,
  meta.GetOptions,
  meta.ListOptions,
  meta.TableOptions,
  meta.Table,
  meta.PartialObjectMetadata,
  meta.PartialObjectMetadataList,
  meta.List,
];

/** Kinds without a path of their own, by base group and version. */
const unserved: Readonly<Record<string, readonly MessageType[]>> = {
  '/v1': [
    options.PodAttachOptions,
    options.PodExecOptions,
    options.PodLogOptions,
    options.PodPortForwardOptions,
    options.PodProxyOptions,
    options.NodeProxyOptions,
    options.ServiceProxyOptions,
    PodStatusResult,
    RangeAllocation,
    SerializedReference,
  ],
  'admission/v1': [admissionV1.AdmissionReview],
  'admission/v1beta1': [admissionV1beta1.AdmissionReview],
  'apiextensions/v1': [ConversionReview],
  'internal.apiserver/v1alpha1': [StorageVersion, listSchema(StorageVersion)],
  'audit/v1': [audit.Event, audit.Policy, listSchema(audit.Event), listSchema(audit.Policy)],
  'authentication/v1': [TokenRequest],
  'authentication/v1beta1': [authenticationV1beta1.TokenReview],
  'autoscaling/v1': [Scale],
  'batch/v1beta1': [JobTemplate],
  'explain/v1alpha1': [
    explain.AccessExplanation,
    explain.SubjectSearch,
    RefusalSearch,
    SlowRequestSearch,
    DeletionExplanation,
    PendingExplanation,
    ReadinessExplanation,
    explain.ObjectHistory,
  ],
  'imagepolicy/v1alpha1': [ImageReview],
  'policy/v1': [policyV1.Eviction],
  'policy/v1beta1': [policyV1beta1.Eviction],
  'storage/v1beta1': [
    storageV1beta1.CSIDriver,
    storageV1beta1.CSINode,
    storageV1beta1.StorageClass,
    storageV1beta1.VolumeAttachment,
  ].flatMap((schema: MessageType) => [schema, listSchema(schema)]),
};

/** `core.v1.Pod` → `Pod`. */
const kindOf = (schema: MessageType): string => schema.name.slice(schema.name.lastIndexOf('.') + 1);

function build(identity: Identity, release: ApiRelease): Map<string, MessageType> {
  const table = new Map<string, MessageType>();
  for (const schema of everywhere) table.set(kindOf(schema), schemaIn(release, schema));
  for (const [groupVersion, schemas] of Object.entries(unserved)) {
    for (const schema of schemas) table.set(`${groupVersion}/${kindOf(schema)}`, schemaIn(release, schema));
  }
  for (const kind of builtinKinds(identity, release)) {
    for (const [version, { schema }] of Object.entries(kind.versions)) {
      table.set(`${kind.group}/${version}/${kind.kind}`, schema);
      if (kind.verbs.includes('list')) table.set(`${kind.group}/${version}/${kind.listKind}`, listSchemaIn(release, schema));
    }
  }
  return table;
}

type Table = ReadonlyMap<string, MessageType>;
const tables = new WeakMap<Identity, Map<ApiRelease, Table>>();

function tableOf(identity: Identity, release: ApiRelease): Table {
  const ofIdentity = tables.get(identity) ?? new Map<ApiRelease, Table>();
  tables.set(identity, ofIdentity);
  const table = ofIdentity.get(release) ?? build(identity, release);
  ofIdentity.set(release, table);
  return table;
}

/**
 * The schema of a kind in a release of the API. `group` is a base name (`networking`), empty for the core group. Under another identity only the
 * schema extensions of custom resource definitions differ.
 */
export function schemaOf(
  group: string,
  version: string,
  kind: string,
  identity: Identity = plat,
  release: ApiRelease = apiRelease,
): MessageType | undefined {
  const table = tableOf(identity, release);
  return table.get(`${group}/${version}/${kind}`) ?? table.get(kind);
}

/** Whether there are kinds in a version of a group, which is given by its base name. */
export function hasVersion(group: string, version: string, identity: Identity = plat, release: ApiRelease = apiRelease): boolean {
  const prefix = `${group}/${version}/`;
  for (const key of tableOf(identity, release).keys()) if (key.startsWith(prefix)) return true;
  return false;
}
