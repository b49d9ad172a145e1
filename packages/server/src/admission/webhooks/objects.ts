/** The objects of a request as JSON texts, in the versions of webhooks; each version is made once. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { own } from '@plat-dev/lib/own';
import { encodeWithEmptyLists } from '@plat-dev/schema/json';
import type { PluginEnv } from '../plugin.ts';
import type { AdmissionRequest, ObjectKind } from '../types.ts';
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
    const { object, oldObject } = this.request;
    const kind = actionKind(this.request);
    if (kind !== undefined) {
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

/** The kind of the object of an action, with the schema of the subresource if the request does not have it. */
export function actionKind({ objectKind, served, subresource }: AdmissionRequest): ObjectKind | undefined {
  const sub = own(served.kind.subresources, subresource);
  const schema = objectKind?.schema ?? (sub?.type === 'action' ? sub.schema : undefined);
  return objectKind === undefined || schema === undefined ? objectKind : { ...objectKind, schema };
}
