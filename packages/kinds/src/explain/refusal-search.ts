/** Requests that were refused lately. */
import { kind } from '../kind.ts';
import { RefusalSearch } from './schema/refusals.ts';

export const RefusalSearchKind = kind<RefusalSearch>({
  group: 'explain',
  kind: 'RefusalSearch',
  plural: 'refusalsearches',
  scope: 'Cluster',
  verbs: ['create'],
  virtual: true,
  versions: { v1alpha1: { schema: RefusalSearch } },
  hub: 'v1alpha1',
});
