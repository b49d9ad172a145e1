/** `plat rollout pause`, `resume` and `restart`: change workloads by a small patch. */
import { type FlagValues, text } from '@plat-dev/lib/flags';
import { formatTime } from '@plat-dev/lib/time';
import { ApiError } from '@plat-dev/meta/errors';
import { restartAnnotation } from '@plat-dev/meta/identity';
import { type Command, command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { resultFlags } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { Results } from '../output/results.ts';
import { fieldManager, withStockText } from '../program.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { checkWorkloads, findWorkloads, fullName, type Workload, workloadFlags } from './workloads.ts';

const table = {
  Objects: workloadFlags,
  Changing: {
    'field-manager': text('', 'Field manager for the changed fields.', {
      value: 'NAME',
      defaultText: 'kubectl-rollout as kubectl, else plat',
    }),
  },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

interface Change {
  readonly name: 'pause' | 'resume' | 'restart';
  readonly summary: string;
  readonly examples: readonly string[];
  /** Printed behind the name of each changed object. */
  readonly verb: string;
  /** The patch. Throws where the workload does not allow the change. */
  patch(kind: string, workload: Workload, now: number): object;
}

const changes: Readonly<Record<Change['name'], Change>> = {
  pause: {
    name: 'pause',
    summary: 'Pause the rollout of deployments: later changes are not rolled out until it is resumed.',
    examples: ['plat rollout pause deployment/web', 'plat rollout pause deployment -l app=web', 'plat rollout pause -f web.yaml'],
    verb: 'paused',
    patch(kind, { spec }) {
      if (kind !== 'Deployment') throw new Error('pausing is not supported');
      if (spec.paused === true) throw new Error('is already paused');
      return { spec: { paused: true } };
    },
  },
  resume: {
    name: 'resume',
    summary: 'Resume a paused rollout of deployments.',
    examples: ['plat rollout resume deployment/web', 'plat rollout resume deployment -l app=web', 'plat rollout resume -f web.yaml'],
    verb: 'resumed',
    patch(kind, { spec }) {
      if (kind !== 'Deployment') throw new Error('resuming is not supported');
      if (spec.paused !== true) throw new Error('is not paused');
      // Servers leave false out: null removes the field and its owner.
      return { spec: { paused: null } };
    },
  },
  restart: {
    name: 'restart',
    summary: 'Restart the pods of workloads by a new rollout.',
    examples: ['plat rollout restart deployment/web', 'plat rollout restart daemonset', 'plat rollout restart statefulset -l app=db'],
    verb: 'restarted',
    patch(kind, { spec }, now) {
      if (!['Deployment', 'DaemonSet', 'StatefulSet'].includes(kind)) throw new Error('restarting is not supported');
      if (spec.paused === true) throw new Error("can't restart paused deployment (run rollout resume first)");
      return { spec: { template: { metadata: { annotations: { [restartAnnotation]: formatTime(now) } } } } };
    },
  },
};

const commandOf = (change: Change): Command =>
  command({
    usage: 'TYPE NAME… | TYPE/NAME… | TYPE [-l QUERY] | -f FILE [flags]',
    summary: change.summary,
    flags: table,
    more: `
A type without a name means all of them in the namespace.

Examples:
${change.examples.map((line) => `  ${line}`).join('\n')}

Exit codes:
  0   all workloads were ${change.verb}
  1   some failed
  2   the command line is wrong
`,
    async run({ options, args }, io) {
      checkWorkloads(change.name, args, options);
      return withServer(options, io, (work) => changeAll(work, change, args, options));
    },
  });

export const pause = commandOf(changes.pause);
export const resume = commandOf(changes.resume);
export const restart = commandOf(changes.restart);

/** The stock client has no colon behind the name of a workload that cannot be changed: `deployments.apps "web" is already paused`. */
function inStockWords(ref: ObjectRef, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ApiError) return error;
  return withStockText(error, `error: ${fullName(ref)} ${JSON.stringify(ref.name)} ${error.message}`);
}

async function changeAll(work: Work, change: Change, args: readonly string[], options: Options): Promise<number> {
  const results = new Results(work.io, { ...options, dryRun: 'none' });
  for (const ref of await findWorkloads(work, args, options)) {
    try {
      const patch = change.patch(ref.resource.kind, await work.getNamed<Workload>(ref), work.io.clock.now());
      const { object } = await work.send(ref, {
        method: 'PATCH',
        contentType: 'application/strategic-merge-patch+json',
        body: patch,
        query: { fieldManager: fieldManager(work.io, 'rollout', options.fieldManager) },
      });
      results.done(ref, change.verb, object);
    } catch (error) {
      results.failed(shownName(ref.resource, ref.name), inStockWords(ref, error));
    }
  }
  return results.end();
}
