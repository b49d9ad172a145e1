/** Who may perform an action. */
import { kind } from '../kind.ts';
import { SubjectSearch } from './schema/v1alpha1.ts';

export const SubjectSearchKind = kind<SubjectSearch>({
  group: 'explain',
  kind: 'SubjectSearch',
  plural: 'subjectsearches',
  scope: 'Cluster',
  verbs: ['create'],
  virtual: true,
  versions: { v1alpha1: { schema: SubjectSearch } },
  hub: 'v1alpha1',
});
