/** ConversionReview: the request to a webhook, and the checks of its response. */

import { jsonText } from '@plat-dev/lib/json-text';
import { joinApiVersion, slashedApiVersion, versionOfApiVersion } from '@plat-dev/meta/api-version';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';

const versions = ['v1', 'v1beta1'] as const;
export type ReviewVersion = (typeof versions)[number];

/** The first review version of the definition that this server supports. */
export function reviewVersion(versionNames: readonly string[]): ReviewVersion | undefined {
  return versionNames.map((name) => versions.find((version) => version === name)).find((supported) => supported !== undefined);
}

/** The body of a call; `objects` are JSON texts. */
export function reviewText(
  identity: Identity,
  version: ReviewVersion,
  uid: string,
  desiredVersion: string,
  objects: readonly string[],
): string {
  const quote = (text: string): string => JSON.stringify(text);
  return (
    `{"kind":"ConversionReview","apiVersion":${quote(joinApiVersion(groupName(identity, 'apiextensions'), version))},"request":` +
    `{"uid":${quote(uid)},"desiredAPIVersion":${quote(desiredVersion)},"objects":[${objects.join()}]},"response":${NO_RESPONSE}}`
  );
}
/** Stock servers send an empty response with every request: webhooks that return the review they got depend on its fields. */
const NO_RESPONSE = '{"uid":"","convertedObjects":null,"result":{"metadata":{}}}';

/** The objects of a response. Throws an Error for an invalid one. */
export function readReview(identity: Identity, version: ReviewVersion, uid: string, value: JsonValue): readonly JsonValue[] {
  const group = groupName(identity, 'apiextensions');
  const review = isObject(value) ? value : {};
  const { kind = '', apiVersion = '' } = review as { kind?: string; apiVersion?: string };
  checkType(joinApiVersion(group, version), version, String(kind), String(apiVersion));
  const { response } = review;
  if (!isObject(response)) throw new Error('no response provided');
  if (version === 'v1' && response.uid !== uid)
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${jsonText(response.uid ?? '')}`);
  const result = isObject(response.result) ? response.result : {};
  if (result.status !== 'Success') {
    if (typeof result.message === 'string' && result.message !== '') throw new Error(result.message);
    throw new Error(`response.result.status was '${typeof result.status === 'string' ? result.status : ''}', not 'Success'`);
  }
  const objects = response.convertedObjects ?? [];
  if (!Array.isArray(objects)) throw new Error('response.convertedObjects must be a list');
  return objects;
}

/** A response in another version is refused; one without kind and apiVersion is accepted for v1beta1, as in a stock server. */
function checkType(expected: string, version: ReviewVersion, kind: string, apiVersion: string): void {
  if (kind === 'ConversionReview' && apiVersion === expected) return;
  if (kind === '' || apiVersion === '') {
    if (version === 'v1beta1') return;
    throw new Error(`expected webhook response of ${expected}, Kind=ConversionReview, got ${slashedApiVersion(apiVersion)}, Kind=${kind}`);
  }
  if (kind !== 'ConversionReview' && kind !== 'Status')
    throw new Error(`no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`);
  const short = versionOfApiVersion(apiVersion);
  throw new Error(`converting (${short}.${kind}) to (${version}.ConversionReview): unknown conversion`);
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
