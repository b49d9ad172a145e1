/** Controller revisions. */
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { ControllerRevision } from './schema/controller-revision.ts';

export const ControllerRevisionKind = kind<ControllerRevision>({
  group: 'apps',
  kind: 'ControllerRevision',
  plural: 'controllerrevisions',
  scope: 'Namespaced',
  versions: { v1: { schema: ControllerRevision } },
  hub: 'v1',
  columns: [
    nameColumn,
    { name: 'Controller', type: 'string', description: 'The object whose history the revision is part of.' },
    { name: 'Revision', type: 'string', description: 'The number of the revision.' },
    ageColumn,
  ],
});
