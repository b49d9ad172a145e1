/**
 * Converts one object as a person wrote it to another version, without a server.
 *
 * The object keeps what it does: where the new version has another default than the old one, the old default is written out. Nothing
 * else is added to what was written.
 */

import { defaultFeatures } from '@plat-dev/kinds/feature-gates';
import { type ApiObject, type KindEnv, releaseEnv } from '@plat-dev/kinds/kind';
import { fromHubNow, type ServedKind, toHubNow } from '@plat-dev/kinds/served-kind';
import { atOnce, type Work } from '@plat-dev/lib/slices';
import { FieldErrors } from '@plat-dev/meta/field';
import type { Identity } from '@plat-dev/meta/identity';
import { applyDefaults, cloneJson, decode, encode } from '@plat-dev/schema/json';
import { parseExact } from '@plat-dev/schema/json/parse';
import type { JsonObject } from '@plat-dev/schema/types';
import { adjust } from './adjust.ts';
import { carry, type Filled, writeOut } from './carry-changes.ts';
import { type Note, notesOf } from './notes.ts';

export interface Converted {
  readonly object: JsonObject;
  readonly notes: readonly Note[];
}

const envOf = (identity: Identity): KindEnv => ({
  ...releaseEnv(),
  identity,
  now: () => 0,
  feature: (name) => defaultFeatures.isOn(name),
  allowPrivileged: true,
});

/** Throws DecodeError for fields of another type than the version has, and ApiError for what cannot be converted. */
export function convertObject(manifest: JsonObject, from: ServedKind, to: ServedKind): Converted {
  const env = envOf(to.identity);
  const inOldVersion = { ...manifest, apiVersion: from.apiVersion };
  const decodedForm = jsonForm(from, read(from, inOldVersion));
  const bare = jsonForm(to, fromHubNow(to, toHubNow(from, read(from, inOldVersion))));
  const filled: Filled[] = [];
  const withDefaultsOfSource = withOldDefaults(inOldVersion, from, to, env);
  const standard = jsonForm(to, defaulted(to, bare, env));
  // A status that was not written does not belong in a manifest.
  if (manifest.status === undefined) for (const one of [bare, standard, withDefaultsOfSource]) delete one.status;
  writeOut(bare, standard, withDefaultsOfSource, filled);
  const adjusted = adjust(manifest, bare, from, to);
  const object = carry(manifest, decodedForm, bare, jsonForm(to, read(to, {}))) as JsonObject;
  object.apiVersion = to.apiVersion;
  const refused = errorsIn(to, object, env).filter((text) => !errorsIn(from, inOldVersion, env).includes(text));
  return { object, notes: notesOf({ manifest, object, filled, adjusted, refused, from, to }) };
}

function read({ schema }: ServedKind, body: JsonObject): ApiObject {
  const object = decode(schema, cloneJson(body)) as ApiObject;
  object.metadata ??= {};
  return object;
}
const jsonForm = ({ schema }: ServedKind, object: ApiObject): JsonObject => parseExact(encode(schema, object)) as JsonObject;

function defaulted(served: ServedKind, body: JsonObject, env: KindEnv): ApiObject {
  const object = read(served, body);
  applyDefaults(served.schema, object);
  served.definition.defaults?.(object as never, env);
  return object;
}
function withOldDefaults(body: JsonObject, from: ServedKind, to: ServedKind, env: KindEnv): JsonObject {
  return jsonForm(to, fromHubNow(to, toHubNow(from, defaulted(from, body, env))));
}

function* nothing(): Work<void> {}

/** Validation errors of a new object in this version. */
function errorsIn(served: ServedKind, body: JsonObject, env: KindEnv): string[] {
  const errors = new FieldErrors();
  try {
    const hub = toHubNow(served, defaulted(served, body, env));
    const request = { user: { name: '', groups: [] }, resource: { version: served.version } };
    const { strategy } = served.kind;
    strategy?.prepareForCreate?.(hub as never, env, request);
    atOnce(strategy?.validate?.(hub as never, errors, env, request) ?? nothing());
  } catch (error) {
    return [(error as Error).message];
  }
  return errors.list.map(({ field, message }) => `${field}: ${message}`);
}
