/** `plat scale`: sets the number of replicas. */
import { duration, FlagError, type FlagValues, flag, int, readInteger, requiredFlag, text } from '@plat-dev/lib/flags';
import { ApiError } from '@plat-dev/meta/errors';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { changeCause, commandLine, recordFlag } from '../edit/record.ts';
import { withObjectHint } from '../get/hints.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { Results } from '../output/results.ts';
import { isStock } from '../program.ts';
import { shownName, type Work, withServer } from '../work.ts';
import { commandManagerFlag, dryRunFlag, fileFlags, namespaceFlag, resultFlags, selectFlags } from './object-flags.ts';
import type { ObjectRef } from './object-ref.ts';
import { checkTargets, findTargets } from './targets.ts';

const maxReplicas = 2 ** 31 - 1;
const scaleFlags = {
  Objects: { ...fileFlags, namespace: namespaceFlag, ...selectFlags },
  Scaling: {
    replicas: flag<number | undefined>(undefined, 'Number of replicas.', 'NUMBER', (t) => readInteger(t, 0, maxReplicas)),
    'current-replicas': int(-1, 'Scale only if the current number is this; -1 is any.', { min: -1, max: maxReplicas }),
    'resource-version': text('', 'Scale only if the object has this resourceVersion.', { value: 'VERSION' }),
    timeout: duration('0s', 'Wait this long for the replicas; 0 does not wait.', { defaultText: '0s' }),
    'field-manager': commandManagerFlag,
    'dry-run': dryRunFlag,
    record: recordFlag,
  },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type ScaleOptions = FlagValues<typeof scaleFlags>;

const POLL_MS = 200;
const MERGE = 'application/merge-patch+json';

/** The stock client names no manager here, and the server takes the name of the program. */
const managerOf = ({ io }: Work, { fieldManager }: ScaleOptions): string | undefined =>
  fieldManager === '' ? (isStock(io) ? undefined : 'plat') : fieldManager;

interface Scale extends ApiItem {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number };
}

export const scale = command({
  usage: 'TYPE NAME… | TYPE/NAME… | TYPE -l QUERY | TYPE --all | -f FILE  --replicas NUMBER [flags]',
  summary: 'Set the number of replicas.',
  flags: scaleFlags,
  more: `
Examples:
  plat scale deployment/web --replicas=3
  plat scale deployment web db --replicas=0 --timeout=1m
  plat scale statefulset/db --current-replicas=2 --replicas=3

Exit codes:
  0   all objects were scaled
  1   some objects failed, or the wait timed out
  2   the command line is wrong
`,
  async run({ options, args, raw }, io) {
    checkTargets('scale --replicas=3', args, options);
    const { replicas } = options;
    if (replicas === undefined) throw new FlagError('number of replicas missing. For example: --replicas=3', requiredFlag('replicas'));
    return withServer(options, io, (work) => scaleAll(work, args, options, replicas, commandLine(io, 'scale', args, raw)));
  },
});

async function scaleAll(work: Work, args: readonly string[], options: ScaleOptions, replicas: number, line: string): Promise<number> {
  const results = new Results(work.io, options);
  const annotations = await changeCause(work, options.record, line);
  const refs = await findTargets(work, args, options);
  if (refs.length === 0 && !work.hasLeftOut) {
    if (isStock(work.io)) throw new Error('no objects passed to scale');
    work.io.err('No resources found\n');
  }
  if (options.resourceVersion !== '' && refs.length > 1)
    throw new FlagError('--resource-version needs a single object, but there are several');
  const scaled: ObjectRef[] = [];
  for (const ref of refs) {
    try {
      const scaledTo = await scaleOne(work, ref, options, replicas);
      if (annotations !== undefined && options.dryRun === 'none') {
        await work.send(ref, {
          method: 'PATCH',
          contentType: MERGE,
          body: { metadata: { annotations } },
          query: { fieldManager: managerOf(work, options) },
        });
      }
      results.done(ref, 'scaled', scaledTo);
      scaled.push(ref);
    } catch (error) {
      results.failed(shownName(ref.resource, ref.name), await explained(work, ref, error));
    }
  }
  const until = work.io.clock.monotonic() + options.timeout;
  if (options.timeout > 0 && options.dryRun === 'none') {
    for (const ref of scaled)
      await waitForReplicas(work, ref, replicas, until).catch((error) => results.failed(shownName(ref.resource, ref.name), error));
  }
  return results.end();
}

async function scaleOne(work: Work, ref: ObjectRef, options: ScaleOptions, replicas: number): Promise<Scale> {
  const { currentReplicas, resourceVersion, dryRun } = options;
  let version: string | undefined = resourceVersion === '' ? undefined : resourceVersion;
  if (currentReplicas >= 0) {
    const now = await work.get<Scale>(ref, 'scale');
    const desiredReplicas = now.spec?.replicas ?? 0;
    if (desiredReplicas !== currentReplicas)
      throw new Error(`expected ${currentReplicas} current replicas, but found ${desiredReplicas}: not scaled`);
    // The write must apply to the version that was checked.
    version ??= now.metadata?.resourceVersion;
  }
  if (dryRun === 'client') {
    const now = await work.get<Scale>(ref, 'scale');
    return { ...now, spec: { ...now.spec, replicas } };
  }
  const { object } = await work.send<Scale>(ref, {
    method: 'PATCH',
    subresource: 'scale',
    contentType: MERGE,
    body: { ...(version !== undefined && { metadata: { resourceVersion: version } }), spec: { replicas } },
    query: { fieldManager: managerOf(work, options), dryRun: dryRun === 'server' ? 'All' : undefined },
  });
  return object;
}

/** A 404 means that the object does not exist or that its kind has no scale subresource; a second request distinguishes them. */
async function explained(work: Work, ref: ObjectRef, error: unknown): Promise<unknown> {
  if (!(error instanceof ApiError) || error.code !== 404) return error;
  return (await work.exists(ref)) ? new Error(`${ref.resource.name} cannot be scaled`) : withObjectHint(work, error, ref);
}

/** Polls the scale subresource: only the server knows which field holds the number. */
async function waitForReplicas(work: Work, ref: ObjectRef, replicas: number, until: number): Promise<void> {
  for (;;) {
    const now = (await work.get<Scale>(ref, 'scale')).status?.replicas ?? 0;
    if (now === replicas) return;
    if (work.io.clock.monotonic() >= until) throw new Error(`timed out waiting for replicas: ${now} of ${replicas}`);
    await work.io.clock.sleep(POLL_MS, work.signal);
  }
}
