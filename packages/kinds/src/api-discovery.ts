/** Documents of aggregated discovery: every group, version and resource in one. `v2beta1` has the same messages as `v2`. */
import { always, type Infer, list, message, object, opt, ptr, string } from '@plat-dev/schema/types';
import { ListMeta, ObjectMeta } from './meta.ts';
import { GroupVersionKind } from './meta-kinds.ts';

const APISubresourceDiscovery = message('apidiscovery.v2.APISubresourceDiscovery', {
  subresource: always(1, string),
  responseKind: ptr(2, GroupVersionKind),
  acceptedTypes: opt(3, list(GroupVersionKind)),
  verbs: always(4, list(string)),
});

const APIResourceDiscovery = message('apidiscovery.v2.APIResourceDiscovery', {
  resource: always(1, string),
  responseKind: ptr(2, GroupVersionKind),
  scope: always(3, string),
  singularResource: always(4, string),
  verbs: always(5, list(string)),
  shortNames: opt(6, list(string)),
  categories: opt(7, list(string)),
  subresources: opt(8, list(APISubresourceDiscovery)),
});
export type APIResourceDiscovery = Infer<typeof APIResourceDiscovery>;

const APIVersionDiscovery = message('apidiscovery.v2.APIVersionDiscovery', {
  version: always(1, string),
  resources: opt(2, list(APIResourceDiscovery)),
  freshness: opt(3, string),
});
export type APIVersionDiscovery = Infer<typeof APIVersionDiscovery>;

const APIGroupDiscovery = object('apidiscovery.v2.APIGroupDiscovery', {
  metadata: always(1, ObjectMeta),
  versions: opt(2, list(APIVersionDiscovery)),
});
export type APIGroupDiscovery = Infer<typeof APIGroupDiscovery>;

export const APIGroupDiscoveryList = object('apidiscovery.v2.APIGroupDiscoveryList', {
  metadata: always(1, ListMeta),
  items: always(2, list(APIGroupDiscovery)),
});
