/** `plat rollout undo`: rolls workloads back to an earlier revision. */
import { equal } from '@plat-dev/lib/equal';
import { FlagError, type FlagValues, int } from '@plat-dev/lib/flags';
import { deploymentAnnotations } from '@plat-dev/meta/identity';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { dryRunFlag, resultFlags } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { Results } from '../output/results.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { hasRevisions, type Revision, revisionsOf, withoutHistory } from './revisions.ts';
import { templatePage } from './template-page.ts';
import { checkWorkloads, findWorkloads, type PodTemplate, type Workload, workloadFlags } from './workloads.ts';

const table = {
  Objects: workloadFlags,
  Undoing: {
    'to-revision': int(0, 'Revision to roll back to; 0 is the one before the current one.'),
    'dry-run': dryRunFlag,
  },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

/** The label by which a deployment distinguishes the pods of its replica sets. */
const HASH_LABEL = 'pod-template-hash';

export const undo = command({
  usage: 'TYPE NAME… | TYPE/NAME… | TYPE [-l QUERY] | -f FILE [flags]',
  summary: 'Roll workloads back to an earlier revision.',
  flags: table,
  more: `
Examples:
  plat rollout undo deployment/web
  plat rollout undo daemonset/agent --to-revision=3
  plat rollout undo deployment/web --dry-run=client

Exit codes:
  0   all workloads were rolled back, or have the template of the revision already
  1   some failed
  2   the command line is wrong
`,
  async run({ options, args }, io) {
    checkWorkloads('undo', args, options);
    return withServer(options, io, (work) => undoAll(work, args, options));
  },
});

async function undoAll(work: Work, args: readonly string[], options: Options): Promise<number> {
  const results = new Results(work.io, options);
  for (const ref of await findWorkloads(work, args, options)) {
    try {
      const workload = await work.getNamed<Workload>(ref);
      results.done(ref, await undoOne(work, ref, workload, options), workload);
    } catch (error) {
      results.failed(shownName(ref.resource, ref.name), error);
    }
  }
  return results.end();
}

/** Returns what was done. */
async function undoOne(work: Work, ref: ObjectRef, workload: Workload, options: Options): Promise<string> {
  const { kind } = ref.resource;
  if (!hasRevisions(kind)) throw withoutHistory(kind, `no rollbacker has been implemented for ${JSON.stringify(kind)}`);
  const revision = chosenRevision(await revisionsOf(work, ref, workload), options.toRevision, workload);
  const isDeployment = revision.patch === undefined;
  if (options.dryRun === 'client') return `${isDeployment ? '' : 'will roll back to '}${templatePage(revision.template)}`;
  if (workload.spec.paused === true) {
    throw new FlagError(
      `you cannot rollback a paused deployment; resume it first with '${work.io.program} rollout resume deployment/${ref.name}' and try again`,
    );
  }
  if (equal(withoutHash(revision.template), withoutHash(workload.spec.template)))
    return `skipped rollback (current template already matches revision ${options.toRevision})`;
  await work.send(ref, {
    method: 'PATCH',
    contentType: isDeployment ? 'application/json-patch+json' : 'application/strategic-merge-patch+json',
    body: revision.patch ?? restoringPatch(workload, revision),
    query: { dryRun: options.dryRun === 'server' ? 'All' : undefined },
  });
  return 'rolled back';
}

/** The revision of that number, or for 0 the one before the newest. */
export function chosenRevision(revisions: readonly Revision[], revisionNumber: number, { kind = '', metadata }: Workload): Revision {
  const revision = revisionNumber === 0 ? revisions.at(-2) : revisions.find(({ number }) => number === revisionNumber);
  if (revision !== undefined) return revision;
  if (revisionNumber > 0) throw new Error(`unable to find specified revision ${revisionNumber} in history`);
  throw new Error(
    kind === 'Deployment' ? `no rollout history found for deployment ${JSON.stringify(metadata.name)}` : 'no last revision to roll back to',
  );
}

function withoutHash(template: PodTemplate): PodTemplate {
  const { [HASH_LABEL]: _, ...labels } = template.metadata?.labels ?? {};
  // Servers write the creation time of a template as null or not at all.
  const { creationTimestamp: __, ...metadata } = (template.metadata ?? {}) as { creationTimestamp?: unknown } & object;
  return { ...template, metadata: { ...metadata, labels } };
}

/** Puts the template of a replica set and its annotations into the deployment, whose own annotations of the rollout stay. */
export function restoringPatch({ metadata }: Workload, revision: Revision): object[] {
  const deploymentOnly = Object.entries(metadata.annotations ?? {}).filter(([key]) => deploymentAnnotations.has(key));
  const restored = Object.entries(revision.annotations).filter(([key]) => !deploymentAnnotations.has(key));
  const annotations = Object.fromEntries([...deploymentOnly, ...restored]);
  return [
    { op: 'replace', path: '/spec/template', value: withoutHash(revision.template) },
    // `add` replaces what is there, and works where there is nothing.
    { op: 'add', path: '/metadata/annotations', value: annotations },
  ];
}
