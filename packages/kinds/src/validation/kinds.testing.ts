/** Runs objects through the rules of a kind as the registry does, for tests. */

import { atOnce, type Work } from '@plat-dev/lib/slices';
import { copied } from '@plat-dev/lib/testing/copied.testing';
import type { ApiRelease } from '@plat-dev/lib/version';
import { FieldErrors } from '@plat-dev/meta/field';
import { kubernetes } from '@plat-dev/meta/identity';
import { applyDefaults, decode, encode } from '@plat-dev/schema/json';
import type { JsonValue } from '@plat-dev/schema/types';
import { defaultFeatures, readFeatureGates } from '../feature-gates.ts';
import { GatedFields } from '../gated-fields.ts';
import { type ApiObject, type Kind, type KindEnv, type KindVersion, releaseEnv, type Strategy, type WriteRequest } from '../kind.ts';
import { kindIn } from '../kind-in-release.ts';
import { newerKinds } from '../newer-kinds.ts';
import { validateChangedObject, validateObjectMeta } from './metadata.ts';

const testNow = Date.UTC(2024, 0, 2, 3, 4, 5);
export const testEnv: KindEnv = {
  ...releaseEnv(),
  identity: kubernetes,
  now: () => testNow,
  feature: (name) => defaultFeatures.isOn(name),
  allowPrivileged: true,
  eventTtlSeconds: 3600,
};
/** The same server with some features switched on. */
export const withFeatures = (...on: string[]): KindEnv => ({ ...testEnv, feature: (name) => on.includes(name) || testEnv.feature(name) });

/** A server of a release, with gates that are switched on or, after a dash, off: `inRelease('1.30', 'PodLevelResources', '-AppArmor')`. */
export function inRelease(release: ApiRelease, ...switched: string[]): KindEnv {
  const features = readFeatureGates(new Map(), { release });
  const on = new Set([...features.list(), ...switched]);
  for (const name of switched) if (name.startsWith('-')) on.delete(name.slice(1));
  return { ...testEnv, ...releaseEnv(release), feature: (name) => on.has(name) };
}

/** Any JSON; tests write objects the way clients do. */
// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely.
export type Loose = any;

const rulesOf = (kind: Kind, subresource: string): Strategy<never> => {
  if (subresource === '') return kind.strategy ?? {};
  const sub = kind.subresources[subresource];
  return sub?.type === 'object' ? sub.strategy : {};
};
/** The hub of a kind as a release has it. Kinds that came after 1.24 are whole, whatever the release. */
function version(whole: Kind, { release }: KindEnv = testEnv): KindVersion {
  const kind = newerKinds.includes(whole) ? whole : kindIn(release, whole);
  return kind.versions[kind.hub] as KindVersion;
}

/** A body in its normal form with its defaults. */
export function defaulted(kind: Kind, body: Loose, env: KindEnv = testEnv): Loose {
  const { schema, defaults } = version(kind, env);
  const object = decode(schema, copied(body) as JsonValue) as ApiObject;
  object.metadata ??= {};
  applyDefaults(schema, object);
  defaults?.(object as never, env);
  return object;
}

const request: WriteRequest = { user: { name: 'alice', groups: [] }, resource: { version: 'v1' } };
const base = { namespace: 'ns', uid: 'u-1', creationTimestamp: '2024-01-01T00:00:00Z' };

function* nothing(): Work<void> {}

const gatedFields = (kind: Kind, env: KindEnv): GatedFields =>
  new GatedFields(version(kind, env).schema, kindIn(env.release, kind).gated, env.identity, env.feature);

/** The object that a create stores, and its errors. */
export function create(kind: Kind, body: Loose, env: KindEnv = testEnv): { object: Loose; errors: string[]; warnings: string[] } {
  const object = defaulted(kind, body, env) as ApiObject;
  Object.assign(object.metadata, { ...base, name: object.metadata.name ?? 'x' });
  if (!kind.namespaced) delete object.metadata.namespace;
  if (kind.generation) object.metadata.generation = 1;
  const rules = rulesOf(kind, '');
  gatedFields(kind, env).clear(object, undefined);
  rules.prepareForCreate?.(object as never, env, request);
  const errors = new FieldErrors();
  validateObjectMeta(object.metadata, kind, errors, env);
  atOnce(rules.validate?.(object as never, errors, env, request) ?? nothing());
  return { object, errors: texts(errors), warnings: rules.warnings?.(object as never, undefined as never, env) ?? [] };
}

/** The result of an update of a stored object. `change` gets a copy. */
export function update(
  kind: Kind,
  stored: Loose,
  change: (object: Loose) => void,
  subresource = '',
  env: KindEnv = testEnv,
): { object: Loose; errors: string[] } {
  const old = copied(stored) as ApiObject;
  const body = copied(stored);
  change(body);
  const object = defaulted(kind, body, env) as ApiObject;
  const rules = rulesOf(kind, subresource);
  const gated = gatedFields(kind, env);
  gated.clear(object, old);
  rules.prepareForUpdate?.(object as never, old as never, env, request);
  const errors = new FieldErrors();
  validateChangedObject(object.metadata, old.metadata, kind.namespaced, errors);
  const updateEnv = gated.envFor(object, old, env);
  atOnce(rules.validateUpdate?.(object as never, old as never, errors, updateEnv, request) ?? nothing());
  return { object, errors: texts(errors) };
}

/** `spec.containers | Required | Required value` */
const texts = (errors: FieldErrors): string[] =>
  errors.list.map(({ field, reason, message }) => `${field} | ${reason.replace('FieldValue', '')} | ${message}`);

/** The JSON of an object, as clients see it. */
export const shown = (kind: Kind, object: Loose): Loose => JSON.parse(encode(version(kind).schema, object));
