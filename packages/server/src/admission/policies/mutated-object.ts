/** Applies what the expressions of a mutating policy ask for. */
import type { Mutation } from '@plat-dev/kinds/expressions/policy-mutations';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { isFailedTest, jsonPatch, mergedConfiguration } from '@plat-dev/patch';
import { decode, toJson } from '@plat-dev/schema/json';
import type { JsonValue, MessageType } from '@plat-dev/schema/types';
import { acceptedObject, changedObject } from '../changed-object.ts';
import type { PluginEnv } from '../plugin.ts';
import type { AdmissionRequest } from '../types.ts';
import { actionKind } from '../webhooks/objects.ts';

/** The object cannot be changed like that: the failure policy decides. */
export class MutationFault extends Error {}

type Change = Exclude<Mutation, { readonly type: 'fault' }>;

/** Replaces the object of the request, with defaults. Throws MutationFault. */
export async function mutate({ webhooks }: PluginEnv, request: AdmissionRequest, served: ServedKind, change: Change): Promise<void> {
  const object = request.object as ApiObject;
  const action = actionKind(request);
  if (action !== undefined) {
    const { schema } = action;
    if (schema === undefined) throw new MutationFault(`a ${action.kind} cannot be changed by a policy`);
    request.object = decodedAs(schema, changed(schema, object, change));
    return;
  }
  const current = served.isHub ? object : await webhooks.toVersion(served, object);
  const configuration =
    change.type === 'patch'
      ? change
      : { ...change, configuration: { ...change.configuration, apiVersion: served.apiVersion, kind: served.kind.kind } };
  const json = changed(served.schema, current, configuration);
  if (json === undefined) return;
  request.object = await acceptedObject(
    webhooks,
    served,
    attempt(() => changedObject(served, json)),
  );
}

/** The changed object; undefined: it stays as it is. */
function changed(schema: MessageType, object: ApiObject, change: Change): unknown {
  if (change.type === 'configuration')
    return attempt(() => mergedConfiguration(schema, object as never, change.configuration), 'error applying patch: ');
  try {
    return jsonPatch(change.operations as JsonValue)(toJson(schema, object));
  } catch (error) {
    if (isFailedTest(error)) return undefined;
    const { message, cause } = error as Error;
    throw new MutationFault(`JSON Patch: ${typeof cause === 'string' ? cause : message}`);
  }
}

const decodedAs = (schema: MessageType, json: unknown): ApiObject | undefined =>
  json === undefined ? undefined : attempt(() => decode(schema, json) as ApiObject);

function attempt<T>(make: () => T, prefix = 'error applying patch: '): T {
  try {
    return make();
  } catch (error) {
    throw new MutationFault(`${prefix}${(error as Error).message}`);
  }
}
