/** Functions of the registry, which is above admission, for webhooks; the composition root passes them in. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Served } from '@plat-dev/kinds/served';

export interface WebhookTools {
  /** Served resources of the same objects in other versions or groups, including the given one. */
  equivalents(served: Served): readonly Served[];
  /** A copy of a hub object in the version of `served`. */
  toVersion(served: Served, hub: ApiObject): Promise<ApiObject>;
  /** The hub form of an object in the version of `served`, which is not used afterwards. */
  toHub(served: Served, object: ApiObject): Promise<ApiObject>;
  /** Sets defaults of an object in the version of `served`. */
  fillDefaults(served: Served, object: ApiObject): void;
}
