/** `plat rollout history`: the revisions of workloads, or the template of one of them. */
import { type FlagValues, int } from '@plat-dev/lib/flags';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { resultFlags } from '../objects/object-flags.ts';
import { printable } from '../output/print-table.ts';
import { Results } from '../output/results.ts';
import { tabbed } from '../output/tabbed-columns.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { type Revision, revisionsOf } from './revisions.ts';
import { templatePage } from './template-page.ts';
import { checkWorkloads, findWorkloads, type PodTemplate, type Workload, workloadFlags } from './workloads.ts';

const table = {
  Objects: workloadFlags,
  Showing: { revision: int(0, 'Show the pod template of this revision.') },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

export const history = command({
  usage: 'TYPE NAME… | TYPE/NAME… | TYPE [-l QUERY] | -f FILE [flags]',
  summary: 'Show the revisions of workloads.',
  flags: table,
  more: `
Examples:
  plat rollout history deployment/web
  plat rollout history daemonset/agent --revision=3
  plat rollout history statefulset -l app=db

Exit codes:
  0   the history was printed
  1   there is no such object or revision
  2   the command line is wrong
`,
  async run({ options, args }, io) {
    checkWorkloads('history', args, options);
    return withServer(options, io, (work) => showAll(work, args, options));
  },
});

async function showAll(work: Work, args: readonly string[], options: Options): Promise<number> {
  const results = new Results(work.io, { ...options, dryRun: 'none' });
  for (const ref of await findWorkloads(work, args, options)) {
    try {
      const workload = await work.getNamed<Workload>(ref);
      const revisions = await revisionsOf(work, ref, workload);
      const head = options.revision > 0 ? `with revision #${options.revision}` : '';
      results.done(ref, `${head}\n${historyText(revisions, options.revision)}`, workload);
    } catch (error) {
      results.failed(shownName(ref.resource, ref.name), error);
    }
  }
  return results.end();
}

/** A table of revisions, or the page of one. */
export function historyText(revisions: readonly Revision[], revisionNumber: number): string {
  if (revisions.length === 0) return 'No rollout history found.';
  if (revisionNumber > 0) {
    const revision = revisions.find(({ number }) => number === revisionNumber);
    if (revision === undefined) throw new Error('unable to find the specified revision');
    return templatePage(withCause(revision));
  }
  const rows = revisions.map(({ number, cause }) => [`${number}`, cause === '' ? '<none>' : printable(cause)]);
  return tabbed([['REVISION', 'CHANGE-CAUSE'], ...rows], { padding: 2 });
}
/** The cause of a replica set is shown among the annotations of its template. */
function withCause({ template, annotations, patch }: Revision): PodTemplate {
  const cause = patch === undefined ? Object.entries(annotations).filter(([key]) => key.endsWith('/change-cause')) : [];
  if (cause.length === 0) return template;
  return {
    ...template,
    metadata: { ...template.metadata, annotations: { ...template.metadata?.annotations, ...Object.fromEntries(cause) } },
  };
}
