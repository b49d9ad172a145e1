/** The values of a request for expressions, in the versions that policies and webhooks match. */
import type { AdmissionValues } from '@plat-dev/kinds/expressions/admission-values';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import type { Work } from '@plat-dev/lib/slices';
import { toJson } from '@plat-dev/schema/json';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import type { Namespaces } from '../matching/namespaces.ts';
import type { PluginEnv } from '../plugin.ts';
import type { AdmissionRequest } from '../types.ts';
import { actionKind } from '../webhooks/objects.ts';
import { reviewedKind, reviewedNames, reviewedOptions, reviewedResource, reviewedUser, typedAction } from '../webhooks/review.ts';
import { accessOf } from './access.ts';

export class RequestValues {
  private readonly env: PluginEnv;
  private readonly request: AdmissionRequest;
  private readonly namespaces: Namespaces;
  private readonly ask: AdmissionValues['ask'];
  private readonly oldObjects = new Map<ServedKind, JsonValue>();
  private readonly objects = new Map<ServedKind, JsonValue>();
  private of: ApiObject | undefined;

  constructor(env: PluginEnv, request: AdmissionRequest, namespaces: Namespaces) {
    this.env = env;
    this.request = request;
    this.namespaces = namespaces;
    this.ask = accessOf(env, request.user);
    this.of = request.object;
  }

  /** Those for a policy or a webhook that takes the object in a version. */
  *in(served: ServedKind): Work<AdmissionValues> {
    const { request } = this;
    // Who changes the object replaces it.
    if (this.of !== request.object) {
      this.of = request.object;
      this.objects.clear();
    }
    return {
      object: yield* this.value(served, request.object, this.objects),
      oldObject: yield* this.value(served, request.oldObject, this.oldObjects),
      request: this.requestValue(served),
      namespaceObject: this.namespaceObject(),
      ask: this.ask,
      requestResource: {
        group: request.served.group,
        resource: request.served.kind.plural,
        subresource: request.subresource,
        ...reviewedNames(request),
      },
    };
  }

  private *value(served: ServedKind, object: ApiObject | undefined, values: Map<ServedKind, JsonValue>): Work<JsonValue> {
    if (object === undefined) return null;
    let value = values.get(served);
    if (value === undefined) {
      value = yield* this.json(served, object);
      values.set(served, value);
    }
    return value;
  }
  private *json(served: ServedKind, object: ApiObject): Work<JsonValue> {
    yield;
    const action = actionKind(this.request);
    if (action !== undefined) {
      const typed = typedAction(this.env.identity, action, object);
      return action.schema === undefined ? (structuredClone(typed) as JsonObject) : toJson(action.schema, typed);
    }
    if (served.isHub) return toJson(served.schema, object);
    const converted: ApiObject[] = [];
    yield this.env.webhooks.toVersion(served, object).then((one) => converted.push(one));
    return toJson(served.schema, converted[0]);
  }

  /** What is empty is not there. */
  private requestValue(served: ServedKind): JsonObject {
    const { identity } = this.env;
    const { request } = this;
    const { subresource, objectKind, operation, dryRun, user } = request;
    const { name, namespace } = reviewedNames(request);
    return {
      kind: reviewedKind(identity, served, objectKind),
      resource: reviewedResource(served),
      ...(subresource !== '' && { subResource: subresource }),
      requestKind: reviewedKind(identity, request.served, objectKind),
      requestResource: reviewedResource(request.served),
      ...(subresource !== '' && { requestSubResource: subresource }),
      ...(name !== '' && { name }),
      ...(namespace !== '' && { namespace }),
      operation,
      userInfo: reviewedUser(user) as JsonObject,
      dryRun,
      options: reviewedOptions(identity, request),
    };
  }

  /** That of the object; a namespace has none. */
  private namespaceObject(): ApiObject | undefined {
    const { namespace, served } = this.request;
    const isNamespace = served.kind.plural === 'namespaces' && served.group === '';
    return namespace === '' || isNamespace ? undefined : this.namespaces.get(namespace, this.request);
  }
}
