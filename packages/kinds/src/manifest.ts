/**
 * What a server makes of a manifest, without a server: it is read by the schema of its kind, filled with defaults, and checked by the
 * rules for new objects. What only a cluster knows is left out: names in use, quotas, admission, custom kinds.
 *
 *   checkManifest('apiVersion: v1\nkind: Service\nmetadata: { name: web }\nspec: { ports: [{ port: 80 }] }')
 *     → { object: { …, spec: { type: 'ClusterIP', ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }], … } }, error: undefined, … }
 */
import { atOnce, type Work } from '@plat-dev/lib/slices';
import { type ApiError, badRequest, invalid } from '@plat-dev/meta/errors';
import { FieldErrors } from '@plat-dev/meta/field';
import { type Identity, identities } from '@plat-dev/meta/identity';
import { unknownFieldsIn } from '@plat-dev/schema/fields/field-place';
import { applyDefaults, cloneJson, DecodeError, decode, toJson } from '@plat-dev/schema/json';
import type { JsonObject } from '@plat-dev/schema/types';
import { parseYaml } from '@plat-dev/schema/yaml';
import { defaultFeatures } from './feature-gates.ts';
import { GatedFields } from './gated-fields.ts';
import { builtinKinds } from './index.ts';
import { type ApiObject, type KindEnv, releaseEnv } from './kind.ts';
import { type ServedKind, serve, toHubNow } from './served-kind.ts';
import { validateObjectMeta } from './validation/metadata.ts';

export interface ManifestOptions {
  /** Whose names the groups have: `networking.k8s.io` (`kubernetes`, the default) or `networking.plat.dev` (`plat`). */
  readonly identity?: 'kubernetes' | 'plat';
  /** Namespace of an object that names none; `default` by default. */
  readonly namespace?: string;
  /** Whether a feature gate is on; by default as servers have it. */
  readonly feature?: (name: string) => boolean;
  /** Milliseconds since 1970, for rules that compare times. */
  readonly now?: number;
}

export interface CheckedManifest {
  /** With its defaults, in the version in which it is written; undefined if it cannot be read. */
  readonly object: JsonObject | undefined;
  /** The answer of a server that refuses it, with a cause for each field in `details`. */
  readonly error: ApiError | undefined;
  /** What a server accepts and warns of: unknown fields, which it drops, and deprecated ones. */
  readonly warnings: readonly string[];
}

/** `manifest`: an object, or its text in YAML or JSON. */
export function checkManifest(manifest: JsonObject | string, options: ManifestOptions = {}): CheckedManifest {
  const identity = identities[options.identity ?? 'kubernetes'] as Identity;
  const { feature = (name: string) => defaultFeatures.isOn(name), now = 0, namespace = 'default' } = options;
  try {
    const manifestObject = read(manifest);
    const served = servedFor(manifestObject, identity);
    return check(manifestObject, served, namespace, { ...releaseEnv(), identity, feature, now: () => now, allowPrivileged: true });
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { object: undefined, error: badRequest(error.message), warnings: [] };
  }
}

function check(manifestObject: JsonObject, served: ServedKind, namespace: string, env: KindEnv): CheckedManifest {
  const { kind, schema, definition } = served;
  const object = decode(schema, cloneJson(manifestObject)) as ApiObject;
  object.metadata ??= {};
  if (kind.namespaced) object.metadata.namespace ??= namespace;
  applyDefaults(schema, object);
  definition.defaults?.(object as never, env);
  const filled = toJson(schema, object) as JsonObject;
  const hub = toHubNow(served, object);
  const errors = errorsOf(hub, served, env);
  const deprecation = served.deprecation === undefined ? [] : [served.deprecation.warning];
  const warnings = kind.strategy?.warnings?.(hub as never, undefined, env) ?? [];
  return {
    object: filled,
    error: errors.empty ? undefined : invalid(served.groupKind, object.metadata.name ?? '', errors.list),
    warnings: [...deprecation, ...unknownFieldsIn(schema, manifestObject), ...warnings],
  };
}

/** Prepares the object as a server does before it looks at it. */
function errorsOf(hub: ApiObject, { kind, version, hub: { schema } }: ServedKind, env: KindEnv): FieldErrors {
  const errors = new FieldErrors();
  const { metadata } = hub;
  const request = { user: { name: '', groups: [] }, resource: { version } };
  if (metadata.name === undefined && metadata.generateName !== undefined) metadata.name = `${metadata.generateName}${GENERATED}`;
  metadata.uid = SOME_UID;
  new GatedFields(schema, kind.gated, env.identity, env.feature).clear(hub, undefined);
  kind.strategy?.prepareForCreate?.(hub as never, env, request);
  validateObjectMeta(metadata, kind, errors, env);
  atOnce(kind.strategy?.validate?.(hub as never, errors, env, request) ?? nothing());
  return errors;
}
/** Stand for what a server makes by chance. */
const GENERATED = 'xxxxx';
const SOME_UID = '00000000-0000-4000-8000-000000000000';
function* nothing(): Work<void> {}

function read(manifest: JsonObject | string): JsonObject {
  const value = typeof manifest === 'string' ? parseYaml(manifest, { single: true }) : manifest;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new DecodeError('the manifest is not an object');
  return value;
}

/** Throws DecodeError for a kind that is not built in. */
function servedFor({ apiVersion, kind }: JsonObject, identity: Identity): ServedKind {
  for (const text of [apiVersion, kind])
    if (typeof text !== 'string' || text === '') throw new DecodeError('the manifest has no apiVersion and kind');
  const kinds = builtinKinds(identity);
  const ofName = kinds.filter((one) => one.kind === kind);
  const served = ofName.flatMap((one) => {
    const store = kinds.find(({ group, plural }) => group === one.sharesStoreOf?.group && plural === one.sharesStoreOf?.plural);
    return serve(one, identity, store && { store });
  });
  const servedVersion = served.find((one) => one.apiVersion === apiVersion);
  if (servedVersion !== undefined) return servedVersion;
  const others = served.map((one) => one.apiVersion).join(', ');
  throw new DecodeError(`no kind "${kind}" is built in for version "${apiVersion}"${others === '' ? '' : `; it is in ${others}`}`);
}
