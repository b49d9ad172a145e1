/** `plat label` */
import { markCommand } from './mark.ts';

export const label = markCommand({
  command: 'label',
  field: 'labels',
  summary: 'Change labels of objects.',
  examples: `  plat label pod web tier=front
  plat label pods --all old-
  plat label ns/a team=b --overwrite
`,
  verbs: { set: 'labeled', removed: 'unlabeled', unchanged: 'not labeled' },
});
