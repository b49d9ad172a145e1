/** The parameters of policies: objects of a kind that the policy names, chosen by each binding. */
import type { ParamKind, ParamRef } from '@plat-dev/kinds/admissionregistration/schema/policies';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import type { Work } from '@plat-dev/lib/slices';
import { splitApiVersion } from '@plat-dev/meta/api-version';
import { fromLabelSelector } from '@plat-dev/meta/labels';
import { toJson } from '@plat-dev/schema/json';
import type { JsonValue } from '@plat-dev/schema/types';
import type { PluginEnv, StoredObjects } from '../plugin.ts';

/** The policy or the binding cannot be used as it is: the failure policy decides. */
export class ConfigurationFault extends Error {}

/** Throws ConfigurationFault. */
export function paramKindOf(env: PluginEnv, { apiVersion = '', kind = '' }: ParamKind): ServedKind {
  const { group, version } = splitApiVersion(apiVersion);
  const served = env.findKind(group, kind, version);
  if (served !== undefined) return served;
  throw new ConfigurationFault(`failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'`);
}

/** The parameters of one binding for a request in a namespace; null where it names none. Throws ConfigurationFault. */
export function* parametersOf(
  env: PluginEnv,
  served: ServedKind | undefined,
  reference: ParamRef | undefined,
  namespace: string,
): Work<readonly JsonValue[]> {
  if (served === undefined || reference === undefined) return [null];
  const within = namespaceOf(served, reference, namespace);
  const objects = env.objects(served);
  if (objects?.pending !== undefined) yield objects.pending();
  const foundObjects = objects === undefined ? [] : foundBy(objects, reference, within);
  if (foundObjects.length === 0 && reference.parameterNotFoundAction === 'Deny')
    throw new ConfigurationFault('no params found for policy binding with `Deny` parameterNotFoundAction');
  const parameters: JsonValue[] = [];
  for (const object of foundObjects) {
    yield;
    parameters.push(yield* parameterValue(env, served, object));
  }
  return parameters;
}

/** Undefined for kinds without namespaces. */
function namespaceOf(served: ServedKind, reference: ParamRef, namespace: string): string | undefined {
  const named = reference.namespace ?? '';
  if (!served.kind.namespaced) {
    if (named !== '') throw new ConfigurationFault('paramRef.namespace must not be provided for a cluster-scoped `paramKind`');
    return undefined;
  }
  const within = named === '' ? namespace : named;
  if (within === '') throw new ConfigurationFault('cannot use namespaced paramRef in policy binding that matches cluster-scoped resources');
  return within;
}

function foundBy(objects: StoredObjects, { name = '', selector }: ParamRef, namespace: string | undefined): readonly ApiObject[] {
  if (selector !== undefined) return objects.select(namespace, fromLabelSelector(selector));
  const object = objects.get(namespace ?? '', name);
  return object === undefined ? [] : [object];
}

/** Values by object: they must not be changed, and live as long as the object. */
const values = new WeakMap<ApiObject, { readonly served: ServedKind; readonly value: JsonValue }>();

function* parameterValue(env: PluginEnv, served: ServedKind, object: ApiObject): Work<JsonValue> {
  const existing = values.get(object);
  if (existing?.served === served) return existing.value;
  const converted: ApiObject[] = served.isHub ? [object] : [];
  if (!served.isHub) yield env.webhooks.toVersion(served, object).then((one) => converted.push(one));
  const value = toJson(served.schema, converted[0]);
  values.set(object, { served, value });
  return value;
}
