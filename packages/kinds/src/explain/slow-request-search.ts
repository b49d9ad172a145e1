/** Requests that took long. */
import { kind } from '../kind.ts';
import { SlowRequestSearch } from './schema/slow-requests.ts';

export const SlowRequestSearchKind = kind<SlowRequestSearch>({
  group: 'explain',
  kind: 'SlowRequestSearch',
  plural: 'slowrequestsearches',
  scope: 'Cluster',
  verbs: ['create'],
  virtual: true,
  versions: { v1alpha1: { schema: SlowRequestSearch } },
  hub: 'v1alpha1',
});
