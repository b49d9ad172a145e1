/** Functions of the registry, which is above admission, for webhooks; the composition root passes them in. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import type { ServedKind } from '@plat-dev/kinds/served-kind';

export interface WebhookTools {
  /** Served resources of the same objects in other versions or groups, including the given one. */
  equivalents(served: ServedKind): readonly ServedKind[];
  /** A copy of a hub object in the version of `served`. */
  toVersion(served: ServedKind, hub: ApiObject): Promise<ApiObject>;
  /** The hub form of an object in the version of `served`, which is not used afterwards. */
  toHub(served: ServedKind, object: ApiObject): Promise<ApiObject>;
  /** Sets defaults of an object in the version of `served`. */
  fillDefaults(served: ServedKind, object: ApiObject): void;
}
