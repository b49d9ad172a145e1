/** The objects of a request as JSON texts, in the versions of webhooks; each version is made once. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { own } from '@plat-dev/lib/own';
import { encodeWithEmptyLists } from '@plat-dev/schema/json';
import type { MessageType } from '@plat-dev/schema/types';
import type { PluginEnv } from '../plugin.ts';
import type { AdmissionRequest } from '../types.ts';
import { actionText, type ReviewObjects } from './review.ts';

export class VersionedTexts {
  private readonly env: PluginEnv;
  private readonly request: AdmissionRequest;
  private readonly reviewObjects = new Map<ServedKind, Promise<ReviewObjects>>();
  private of: ApiObject | undefined;

  constructor(env: PluginEnv, request: AdmissionRequest) {
    this.env = env;
    this.request = request;
    this.of = request.object;
  }

  in(served: ServedKind): Promise<ReviewObjects> {
    // A webhook that changes the object replaces it.
    if (this.of !== this.request.object) {
      this.of = this.request.object;
      this.reviewObjects.clear();
    }
    let texts = this.reviewObjects.get(served);
    if (texts === undefined) {
      texts = this.make(served);
      this.reviewObjects.set(served, texts);
    }
    return texts;
  }

  private async make(served: ServedKind): Promise<ReviewObjects> {
    const { object, oldObject, objectKind } = this.request;
    if (objectKind !== undefined) {
      const kind = { ...objectKind, ...schemaOf(this.request) };
      const text = (one: ApiObject | undefined): string => (one === undefined ? 'null' : actionText(this.env.identity, kind, one));
      return { object: text(object), oldObject: text(oldObject) };
    }
    const [newText, oldText] = await Promise.all([this.text(served, object), this.text(served, oldObject)]);
    return { object: newText, oldObject: oldText };
  }

  private async text(served: ServedKind, hub: ApiObject | undefined): Promise<string> {
    if (hub === undefined) return 'null';
    if (served.isHub) return encodeWithEmptyLists(served.schema, hub);
    return encodeWithEmptyLists(served.schema, await this.env.webhooks.toVersion(served, hub));
  }
}

/** The schema of an action's object, if the request does not have it. */
function schemaOf({ objectKind, served, subresource }: AdmissionRequest): { schema: MessageType } | undefined {
  const sub = own(served.kind.subresources, subresource);
  const schema = objectKind?.schema ?? (sub?.type === 'action' ? sub.schema : undefined);
  return schema === undefined ? undefined : { schema };
}
