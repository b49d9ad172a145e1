/** What a webhook or a policy made of an object, on its way back into the request. */
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { decode } from '@plat-dev/schema/json';
import type { WebhookTools } from './webhooks/tools.ts';

/** The object of changed JSON. Throws an Error where it is none of its kind any more. */
export function changedObject(served: ServedKind, json: unknown): ApiObject {
  const object = decode(served.schema, json) as ApiObject;
  object.kind ??= served.kind.kind;
  object.apiVersion ??= served.apiVersion;
  object.metadata ??= {};
  if (object.kind !== served.kind.kind || object.apiVersion !== served.apiVersion)
    throw new Error(`the patch makes a ${object.apiVersion} ${object.kind} of a ${served.apiVersion} ${served.kind.kind}`);
  return object;
}

/** Its hub form with defaults; the object is not used afterwards. */
export async function acceptedObject({ fillDefaults, toHub }: WebhookTools, served: ServedKind, object: ApiObject): Promise<ApiObject> {
  fillDefaults(served, object);
  return served.isHub ? object : toHub(served, object);
}
