/** What webhooks need of the registry, which stands above admission; the composition root passes it in. */
import type { ApiObject } from '../../kinds/kind.ts';
import type { Served } from '../../kinds/served.ts';

export interface WebhookTools {
  /** Served resources that hold the same objects in other versions or groups, the given one included. */
  equivalents(served: Served): readonly Served[];
  /** A copy of a hub object in the version of `served`. */
  toVersion(served: Served, hub: ApiObject): ApiObject | Promise<ApiObject>;
  /** The hub form of an object in the version of `served`, which is not used afterwards. */
  toHub(served: Served, object: ApiObject): ApiObject | Promise<ApiObject>;
  /** Fills in defaults of an object in the version of `served`. */
  fillDefaults(served: Served, object: ApiObject): void;
}
