/** Pod templates. */
import { nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { PodTemplate } from './schema/pod.ts';

export const PodTemplateKind = kind<PodTemplate>({
  group: '',
  kind: 'PodTemplate',
  plural: 'podtemplates',
  scope: 'Namespaced',
  versions: { v1: { schema: PodTemplate } },
  hub: 'v1',
  deleteReturnsObject: true,
  columns: [
    nameColumn,
    { name: 'Containers', type: 'string', description: 'The names of the containers in the template.' },
    { name: 'Images', type: 'string', description: 'The images of the containers in the template.' },
    { name: 'Pod Labels', type: 'string', description: 'The labels that pods made from the template get.' },
  ],
});
