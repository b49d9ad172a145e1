/** Writes objects in versions that are not served by default, as the registry does, for tests. */

import { atOnce, type Work } from '@plat-dev/lib/slices';
import { copied } from '@plat-dev/lib/testing/copied.testing';
import { apiRelease } from '@plat-dev/lib/version';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { FieldErrors } from '@plat-dev/meta/field';
import { kubernetes } from '@plat-dev/meta/identity';
import { applyDefaults, decode, encode } from '@plat-dev/schema/json';
import { builtinKinds } from './index.ts';
import type { ApiObject, WriteRequest } from './kind.ts';
import { kindIn } from './kind-in-release.ts';
import { withOlderVersions } from './older-kinds.ts';
import { fromHubNow, type ServedKind, serve, toHubNow } from './served-kind.ts';
import { type Loose, testEnv } from './validation/kinds.testing.ts';

export const olderKinds = withOlderVersions(builtinKinds(kubernetes, 'all'), kubernetes).map((kind) => kindIn(apiRelease, kind));

/** Every version of every kind. */
export const allServed: readonly ServedKind[] = olderKinds.flatMap((kind) => {
  const shared = kind.sharesStoreOf;
  const store = shared && olderKinds.find(({ group, plural }) => group === shared.group && plural === shared.plural);
  return serve(kind, kubernetes, { all: true, ...(store && { store }) });
});

/** `servedAs('apps', 'v1beta1', 'Deployment')`; the group is a base name. */
export function servedAs(group: string, version: string, kind: string): ServedKind {
  const found = allServed.find((one) => one.kind.group === group && one.version === version && one.kind.kind === kind);
  if (found === undefined) throw new Error(`there is no ${joinApiVersion(group, version)} ${kind}`);
  return found;
}

/** A body in its version, with the defaults of that version. */
export function read(served: ServedKind, body: Loose): Loose {
  const object = decode(served.schema, copied(body)) as ApiObject;
  object.metadata ??= {};
  applyDefaults(served.schema, object);
  served.definition.defaults?.(object as never, testEnv);
  return object;
}
export const toHub = (served: ServedKind, object: Loose): Loose => toHubNow(served, copied(object));
export const fromHub = (served: ServedKind, hub: Loose): Loose => fromHubNow(served, copied(hub));
/** The JSON of an object, as clients of a version see it. */
export const shown = ({ schema }: ServedKind, object: Loose): Loose => JSON.parse(encode(schema, object));

function* nothing(): Work<void> {}
const requestIn = ({ version }: ServedKind): WriteRequest => ({ user: { name: 'alice', groups: [] }, resource: { version } });
const textsOf = ({ list }: FieldErrors): string[] => list.map(({ field, message }) => `${field}: ${message}`);

/** The hub object that a create stores, and its errors. */
export function created(served: ServedKind, body: Loose): { hub: Loose; errors: string[] } {
  const hub = toHub(served, read(served, body));
  const request = requestIn(served);
  const { strategy } = served.kind;
  strategy?.prepareForCreate?.(hub as never, testEnv, request);
  const errors = new FieldErrors();
  atOnce(strategy?.validate?.(hub as never, errors, testEnv, request) ?? nothing());
  return { hub, errors: textsOf(errors) };
}

/** The same for an update of a stored object. `change` gets it in the version of the request. */
export function updated(served: ServedKind, stored: Loose, change: (object: Loose) => void): { hub: Loose; errors: string[] } {
  const body = fromHub(served, stored);
  change(body);
  const hub = toHub(served, read(served, body));
  const request = requestIn(served);
  const { strategy } = served.kind;
  strategy?.prepareForUpdate?.(hub as never, copied(stored) as never, testEnv, request);
  const errors = new FieldErrors();
  atOnce(strategy?.validateUpdate?.(hub as never, copied(stored) as never, errors, testEnv, request) ?? nothing());
  return { hub, errors: textsOf(errors) };
}
