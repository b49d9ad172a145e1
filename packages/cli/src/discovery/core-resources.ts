/** Resources of the core group that commands make objects of; every server has them, so that no discovery is needed. */
import type { ApiResource } from '@plat-dev/client/discovery';

const core = (kind: string): ApiResource => ({
  group: '',
  version: 'v1',
  name: `${kind.toLowerCase()}s`,
  singularName: kind.toLowerCase(),
  kind,
  namespaced: true,
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  shortNames: [],
  categories: [],
});

export const podResource = core('Pod');
export const serviceResource = core('Service');
