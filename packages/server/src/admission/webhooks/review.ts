/** AdmissionReview: requests and responses. */

import { Status } from '@plat-dev/kinds/meta-kinds';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { jsonText } from '@plat-dev/lib/json-text';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { decode, encode } from '@plat-dev/schema/json';
import type { JsonObject, JsonValue, MessageType } from '@plat-dev/schema/types';
import type { AdmissionRequest, ObjectKind } from '../types.ts';
import type { ReviewVersion } from './webhook.ts';

const quote = (text: string): string => JSON.stringify(text);

/** JSON texts of the objects in the version of the webhook. */
export interface ReviewObjects {
  readonly object: string;
  readonly oldObject: string;
}

/** The body of a call. `served` is the version of the webhook; the request may have been made in another. */
export function reviewText(
  identity: Identity,
  version: ReviewVersion,
  uid: string,
  request: AdmissionRequest,
  served: ServedKind,
  { object, oldObject }: ReviewObjects,
): string {
  const { subresource, objectKind, operation, user } = request;
  const sub = subresource === '' ? '' : `,"subResource":${quote(subresource)}`;
  const requestSub = subresource === '' ? '' : `,"requestSubResource":${quote(subresource)}`;
  const { name, namespace } = reviewedNames(request);
  return (
    `{"kind":"AdmissionReview","apiVersion":${quote(joinApiVersion(groupName(identity, 'admission'), version))},"request":{"uid":${quote(uid)}` +
    `,"kind":${kindText(identity, served, objectKind)},"resource":${resourceText(served)}${sub}` +
    `,"requestKind":${kindText(identity, request.served, objectKind)},"requestResource":${resourceText(request.served)}${requestSub}` +
    `${name === '' ? '' : `,"name":${quote(name)}`}${namespace === '' ? '' : `,"namespace":${quote(namespace)}`}` +
    `,"operation":"${operation}","userInfo":${userText(user)},"object":${object},"oldObject":${oldObject}` +
    `,"dryRun":${request.dryRun},"options":${optionsText(identity, request)}}}`
  );
}

/** What a request is about, as reviews and expressions name it; empty: nothing. */
export function reviewedNames(request: AdmissionRequest): { readonly name: string; readonly namespace: string } {
  const name = request.collection ? '' : request.name;
  // The namespace of a Namespace is itself, unless its name was generated after the request arrived.
  const isNamespace = request.namespace === '' && request.served.kind.plural === 'namespaces' && request.served.group === '';
  return { name, namespace: isNamespace && !request.nameGenerated ? name : request.namespace };
}

/** Caches the text of a value for as long as the value lives; it must not change. */
function memoized<T extends object>(make: (of: T) => string): (of: T) => string {
  const texts = new WeakMap<T, string>();
  return (of) => {
    let text = texts.get(of);
    if (text === undefined) {
      text = make(of);
      texts.set(of, text);
    }
    return text;
  };
}

/** The kind of the object of a request: that of an action, or the served one. */
export const reviewedKind = (identity: Identity, served: ServedKind, other: ObjectKind | undefined) =>
  other === undefined
    ? { group: served.group, version: served.version, kind: served.kind.kind }
    : { group: groupName(identity, other.group), version: other.version, kind: other.kind };
export const reviewedResource = ({ group, version, kind }: ServedKind) => ({ group, version, resource: kind.plural });

const kindText = (identity: Identity, served: ServedKind, other: ObjectKind | undefined): string =>
  other === undefined ? servedKindText(served) : jsonText(reviewedKind(identity, served, other));
const servedKindText = memoized((served: ServedKind) => jsonText(reviewedKind(served.identity, served, undefined)));
const resourceText = memoized((served: ServedKind) => jsonText(reviewedResource(served)));

export const reviewedUser = ({ name, uid, groups, extra }: AdmissionRequest['user']) => ({
  ...(name !== '' && { username: name }),
  ...(uid !== undefined && uid !== '' && { uid }),
  ...(groups.length > 0 && { groups: [...groups] }),
  ...(extra !== undefined && Object.keys(extra).length > 0 && { extra }),
});
const userText = memoized((user: AdmissionRequest['user']) => JSON.stringify(reviewedUser(user)));

/** A patch is reviewed as the create or update that results from it. */
export function reviewedOptions(identity: Identity, { operation, options }: AdmissionRequest): JsonObject | null {
  if (operation === 'CONNECT') return null;
  const kind = operation === 'CREATE' ? 'CreateOptions' : operation === 'UPDATE' ? 'UpdateOptions' : 'DeleteOptions';
  const { force: _force, kind: _kind, apiVersion: _apiVersion, ...rest } = options;
  return { kind, apiVersion: joinApiVersion(groupName(identity, 'meta'), 'v1'), ...rest };
}
const optionsText = (identity: Identity, request: AdmissionRequest): string => jsonText(reviewedOptions(identity, request));

/** JSON of the object of an action or a connection, which has no other versions. */
export function actionText(identity: Identity, kind: ObjectKind, object: object): string {
  const typed = typedAction(identity, kind, object);
  return kind.schema === undefined ? jsonText(typed) : encode(kind.schema, typed as never);
}
export const typedAction = (identity: Identity, { group, version, kind }: ObjectKind, object: object) => ({
  ...object,
  kind,
  apiVersion: joinApiVersion(groupName(identity, group), version),
});

// ---- responses ---------------------------------------------------------------------------------------------------

export interface ReviewAnswer {
  readonly allowed: boolean;
  readonly status: Status | undefined;
  /** The JSON patch, decoded from base64; undefined: none. */
  readonly patch: Buffer | undefined;
  readonly patchType: string;
  readonly warnings: readonly string[];
  readonly auditAnnotations: readonly (readonly [string, string])[];
}

/** Validates a response. Throws an Error that describes the problem. */
export function readAnswer(identity: Identity, version: ReviewVersion, uid: string, value: JsonValue, mutating: boolean): ReviewAnswer {
  const expected = joinApiVersion(groupName(identity, 'admission'), version);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('the answer is not an AdmissionReview');
  const { kind = '', apiVersion = '', response } = value;
  if (typeof response !== 'object' || response === null || Array.isArray(response)) throw new Error('webhook response was absent');
  // The older version was never strict about kind and apiVersion of the response.
  if (version === 'v1' || kind !== '' || apiVersion !== '') {
    if (kind !== 'AdmissionReview' || apiVersion !== expected)
      throw new Error(`expected webhook response of ${expected}, Kind=AdmissionReview, got ${String(apiVersion)}, Kind=${String(kind)}`);
  }
  if (version === 'v1' && response.uid !== uid)
    throw new Error(`expected response.uid=${quote(uid)}, got ${quote(typeof response.uid === 'string' ? response.uid : '')}`);
  if (typeof response.allowed !== 'boolean' && response.allowed !== undefined && response.allowed !== null)
    throw new Error('response.allowed must be true or false');
  return {
    allowed: response.allowed === true,
    status: response.status == null ? undefined : readStatus(response.status),
    ...readPatch(response, version, mutating),
    warnings: texts(response.warnings, 'response.warnings'),
    auditAnnotations: Object.entries(annotations(response.auditAnnotations)),
  };
}

const readStatus = (value: JsonValue): Status => decode(Status as MessageType, value) as Status;

function readPatch(response: JsonObject, version: ReviewVersion, mutating: boolean): Pick<ReviewAnswer, 'patch' | 'patchType'> {
  const patch = response.patch ?? '';
  const typed = response.patchType !== undefined && response.patchType !== null;
  const patchType = response.patchType ?? '';
  if (typeof patch !== 'string' || typeof patchType !== 'string') throw new Error('response.patch and response.patchType must be texts');
  if (!mutating) {
    if (version === 'v1' && patch !== '') throw new Error('a validating webhook may not return response.patch');
    if (version === 'v1' && typed) throw new Error('a validating webhook may not return response.patchType');
    return { patch: undefined, patchType: '' };
  }
  if (version === 'v1') {
    if (patch !== '' && patchType === '') throw new Error('webhook returned response.patch but not response.patchType');
    if (patch === '' && typed) throw new Error('webhook returned response.patchType but not response.patch');
  }
  if (patch === '') return { patch: undefined, patchType: '' };
  if (patchType !== '' && patchType !== 'JSONPatch')
    throw new UnusablePatch(`response.patchType ${quote(patchType)} is not supported, it must be "JSONPatch"`);
  return { patch: decodePatch(patch), patchType: 'JSONPatch' };
}

/** The patch of a response is not valid. */
export class UnusablePatch extends Error {}

/** Characters outside of base64 are not skipped: the rest might be another patch. */
function decodePatch(text: string): Buffer {
  const letters = text.replace(/[\r\n]/g, '');
  if (letters.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(letters)) throw new UnusablePatch('response.patch is not base64');
  return Buffer.from(letters, 'base64');
}

function texts(value: JsonValue | undefined, what: string): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) throw new Error(`${what} must be a list of texts`);
  return value as string[];
}
function annotations(value: JsonValue | undefined): Record<string, string> {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value) || Object.values(value).some((item) => typeof item !== 'string'))
    throw new Error('response.auditAnnotations must map texts to texts');
  return value as Record<string, string>;
}
