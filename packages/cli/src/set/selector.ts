/** `plat set selector`: changes which pods a service selects. */
import { bool, FlagError, text } from '@plat-dev/lib/flags';
import { command } from '../command.ts';
import { recordFlag } from '../edit/record.ts';
import { selectorObject } from '../labels/selector-object.ts';
import { setFlags, update } from './update-objects.ts';

const { Objects, ...groups } = setFlags({
  'resource-version': text('', 'Change only if the object has this resourceVersion.', { value: 'VERSION' }),
  record: recordFlag,
});
const { selector: _, ...objects } = Objects;

export const selector = command({
  usage: 'TYPE NAME | TYPE/NAME | -f FILE  QUERY [flags]',
  summary: 'Set the selector of a service.',
  flags: {
    Objects: { ...objects, recursive: bool(true, 'Read the directories of --filename recursively.', { short: 'R', defaultText: 'true' }) },
    ...groups,
  },
  more: `
Examples:
  plat set selector service web app=web,tier=front
  plat set selector service/web app=web --resource-version=4711
  plat create service clusterip web --clusterip=None -o yaml --dry-run=client | plat set selector --local -f - app=other -o yaml
`,
  async run(line, io) {
    const { options } = line;
    const query = line.args.at(-1);
    if (query === undefined) throw new FlagError('which selector? For example: plat set selector service web app=web');
    const { matchLabels = {}, matchExpressions } = selectorObject(query);
    if (matchExpressions !== undefined) throw new FlagError(`${JSON.stringify(query)}: a service selects by key=value alone`);
    return update(
      {
        name: 'selector',
        verb: 'selector updated',
        options,
        args: line.args.slice(0, -1),
        line,
        reportsAll: true,
        async change(object) {
          if (object.kind !== 'Service' || object.apiVersion !== 'v1') throw new Error('setting a selector is only supported for Services');
          return { ...object, spec: { ...(object.spec as object), selector: matchLabels } };
        },
      },
      io,
    );
  },
});
