/** `plat rollout status`: follows a rollout until it is done. */
import { bool, duration, type FlagValues, int } from '@plat-dev/lib/flags';
import { formatDuration } from '@plat-dev/lib/time';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { Deadline, followObject } from '../objects/follow-object.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { isStock } from '../program.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { revisionOf, withoutHistory } from './revisions.ts';
import { progressOf } from './status-text.ts';
import { checkWorkloads, findWorkloads, kindName, type Workload, workloadFlags } from './workloads.ts';

const table = {
  Objects: workloadFlags,
  Following: {
    watch: bool(true, 'Follow the rollout until it is done.', { short: 'w', defaultText: 'true' }),
    revision: int(0, 'Fail unless this revision is rolled out; 0 is the last one.'),
    timeout: duration('0s', 'Longest time to follow; 0 is unlimited.', { defaultText: '0s' }),
  },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

export const status = command({
  usage: 'TYPE NAME | TYPE/NAME | TYPE -l QUERY | -f FILE [flags]',
  summary: 'Show the status of a rollout, and follow it until it is done.',
  flags: table,
  more: `
Examples:
  plat rollout status deployment/web
  plat rollout status daemonset/agent --timeout=2m
  plat rollout status statefulset/db --watch=false

Exit codes:
  0     the rollout is done, or with --watch=false its status was printed
  1     the rollout failed, was deleted, or is not done in time
  2     the command line is wrong
  130   interrupted
`,
  async run({ options, args }, io) {
    checkWorkloads('status', args, options);
    return withServer(options, io, async (work) => {
      const refs = await findWorkloads(work, args, options);
      const deadline = new Deadline(options.timeout, io.clock);
      for (const ref of refs) await follow(work, ref, options, deadline);
      return refs.length === 0 ? 1 : 0;
    });
  },
});

async function follow(work: Work, ref: ObjectRef, options: Options, deadline: Deadline): Promise<void> {
  const { kind } = ref.resource;
  const print = (workload: Workload): boolean => {
    const progress = progressOf(kind, workload, options.revision, () => revisionOf(workload.metadata.annotations));
    if (progress === undefined) throw withoutHistory(kind, `no status viewer has been implemented for ${kindName(ref)}`);
    work.io.out(progress.text);
    return progress.done;
  };
  // A missing object is an error of its own.
  const first = await work.getNamed<Workload>(ref);
  if (!options.watch) return void print(first);
  let printedText = '';
  let observed = first.status?.observedGeneration !== undefined;
  const check = (object: ApiItem | undefined): boolean => {
    if (object === undefined) throw new Error('object has been deleted');
    const version = object.metadata?.resourceVersion ?? '';
    // After a lost connection the same state comes once more.
    if (version === printedText) return false;
    printedText = version;
    observed ||= (object as Workload).status?.observedGeneration !== undefined;
    return print(object as Workload);
  };
  if (await followObject(work, ref, deadline, check)) return;
  const after = formatDuration(BigInt(options.timeout) * 1_000_000n);
  throw new Error(
    isStock(work.io)
      ? 'timed out waiting for the condition'
      : `timed out after ${after}: the rollout of ${shownName(ref.resource, ref.name)} is not done${observed ? '' : '; no controller of workloads has observed it: is one running?'}`,
  );
}
