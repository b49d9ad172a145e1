/** `plat annotate` */
import { markCommand } from './mark.ts';

export const annotate = markCommand({
  command: 'annotate',
  field: 'annotations',
  summary: 'Change annotations of objects.',
  examples: `  plat annotate pod web note='of importance'
  plat annotate pods --all note-
  plat annotate -f web.yaml owner=ann --overwrite
`,
  verbs: { set: 'annotated', removed: 'annotated', unchanged: 'annotated' },
});
