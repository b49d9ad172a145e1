/** `plat set serviceaccount`: changes the service account of pods. */
import { FlagError } from '@plat-dev/lib/flags';
import { command } from '../command.ts';
import { recordFlag } from '../edit/record.ts';
import { withPodSpec } from './pod-spec.ts';
import { setFlags, update } from './update-objects.ts';

const { Objects, ...groups } = setFlags({ record: recordFlag });
const { selector: _, ...objects } = Objects;

export const serviceAccount = command({
  usage: 'TYPE NAME | TYPE/NAME | TYPE --all | -f FILE  SERVICE-ACCOUNT [flags]',
  summary: 'Set the service account of pods.',
  flags: { Objects: objects, ...groups },
  more: `
Examples:
  plat set serviceaccount deployment web robot
  plat set serviceaccount deployments --all robot
  plat set sa -f web.yaml robot --local -o yaml
`,
  async run(line, io) {
    const name = line.args.at(-1);
    if (name === undefined) throw new FlagError('which service account? For example: plat set serviceaccount deployment web robot');
    return update(
      {
        name: 'serviceaccount',
        verb: 'serviceaccount updated',
        options: line.options,
        args: line.args.slice(0, -1),
        line,
        reportsAll: true,
        change: async (object) => withPodSpec(object, (spec) => ({ ...spec, serviceAccountName: name })),
      },
      io,
    );
  },
});
