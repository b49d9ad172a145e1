/**
 * What an undo restores of an object: labels, annotations and every field that is neither status nor metadata of the server.
 * Annotations in which controllers keep notes about the current state stay as they are.
 */
import { equal } from '@plat-dev/lib/equal';
import { clientSideApply, deploymentAnnotations } from '@plat-dev/meta/identity';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import type { PastObject } from './versions.ts';

const ofControllers: ReadonlySet<string> = new Set(
  [...deploymentAnnotations, 'deprecated.daemonset.template.generation'].filter((name) => name !== clientSideApply.annotation),
);
const notContent: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'status']);

const entriesOf = (fields: JsonObject | undefined): [string, JsonValue][] => Object.entries(fields ?? {});
const contentOf = (object: PastObject): JsonObject => Object.fromEntries(entriesOf(object).filter(([name]) => !notContent.has(name)));
const ownAnnotations = ({ metadata }: PastObject): JsonObject =>
  Object.fromEntries(entriesOf(metadata.annotations).filter(([name]) => !ofControllers.has(name)));

/** Whether an undo from one to the other would change nothing. */
export function hasSameContent(one: PastObject, other: PastObject): boolean {
  return (
    equal(contentOf(one), contentOf(other)) &&
    equal(one.metadata.labels ?? {}, other.metadata.labels ?? {}) &&
    equal(ownAnnotations(one), ownAnnotations(other))
  );
}

/**
 * Whether finalizers and owner references are the same, which an undo leaves as they are: a controller may have finished with a
 * finalizer, and owners may be gone.
 */
export function hasSameHolds({ metadata: one }: PastObject, { metadata: other }: PastObject): boolean {
  return equal(one.finalizers ?? [], other.finalizers ?? []) && equal(one.ownerReferences ?? [], other.ownerReferences ?? []);
}

/** The live object with the content of an earlier version, for an update. */
export function restored(live: PastObject, earlier: PastObject): PastObject {
  const { labels: _, annotations: __, ...metadata } = live.metadata;
  const notes = entriesOf(live.metadata.annotations).filter(([name]) => ofControllers.has(name));
  const annotations = { ...ownAnnotations(earlier), ...Object.fromEntries(notes) };
  return {
    apiVersion: live.apiVersion as string,
    kind: live.kind as string,
    metadata: { ...metadata, ...present({ labels: earlier.metadata.labels ?? {}, annotations }) },
    ...contentOf(live.metadata.uid === earlier.metadata.uid ? earlier : withAddressesOf(live, earlier)),
    ...(live.status !== undefined && { status: live.status }),
  } as PastObject;
}

/** A service keeps its addresses for as long as it exists; an earlier one of its name had others. */
function withAddressesOf(live: PastObject, earlier: PastObject): PastObject {
  if (live.kind !== 'Service' || live.apiVersion !== 'v1') return earlier;
  const addresses = entriesOf(live.spec as JsonObject).filter(([name]) => addressFields.has(name));
  const others = entriesOf(earlier.spec as JsonObject).filter(([name]) => !addressFields.has(name));
  return { ...earlier, spec: Object.fromEntries([...others, ...addresses]) };
}
const addressFields: ReadonlySet<string> = new Set(['clusterIP', 'clusterIPs']);

/** A deleted object as it is made anew: without what the server gave it. `ownerReferences`: those of today. */
export function madeAnew(earlier: PastObject, ownerReferences: readonly JsonObject[]): PastObject {
  const { name, namespace, labels = {}, finalizers = [] } = earlier.metadata;
  const metadata = {
    name,
    ...(namespace !== undefined && { namespace }),
    ...present({ labels, annotations: ownAnnotations(earlier) }),
    ...(ownerReferences.length > 0 && { ownerReferences: [...ownerReferences] }),
    ...((finalizers as JsonValue[]).length > 0 && { finalizers }),
  };
  const { apiVersion, kind } = earlier;
  const object = { apiVersion: apiVersion as string, kind: kind as string, metadata, ...contentOf(earlier) } as PastObject;
  return kind === 'Job' ? withoutGeneratedSelector(object) : object;
}

const present = (fields: Readonly<Record<string, JsonObject>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => Object.keys(value).length > 0));

/** The selector of a job names its uid, unless the job brought its own. */
function withoutGeneratedSelector(job: PastObject): PastObject {
  const { selector, ...spec } = job.spec as JsonObject;
  if (spec.manualSelector === true) return job;
  const names = Object.keys(((selector as JsonObject | undefined)?.matchLabels ?? {}) as JsonObject);
  const template = spec.template as JsonObject;
  const { labels, ...metadata } = (template.metadata ?? {}) as { labels?: JsonObject } & JsonObject;
  const ownLabels = Object.fromEntries(entriesOf(labels).filter(([name]) => !names.includes(name) && name !== 'job-name'));
  return { ...job, spec: { ...spec, template: { ...template, metadata: { ...metadata, labels: ownLabels } } } };
}
