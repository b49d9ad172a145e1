/** `plat annotate` */
import { markCommand } from './mark.ts';

export const annotate = markCommand({
  command: 'annotate',
  field: 'annotations',
  summary: "Change annotations: plat annotate pod web note='of importance', plat annotate pods --all note-",
  set: 'annotated',
  removed: 'annotation removed',
});
