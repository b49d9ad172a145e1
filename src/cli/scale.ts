/** `plat scale`: how many replicas objects should have. */
import { setTimeout } from 'node:timers/promises';
import { duration, FlagError, type FlagValues, flag, readInteger, text } from '../lib/flags.ts';
import { ApiError } from '../meta/errors.ts';
import { command } from './command.ts';
import { connectFlags } from './connect.ts';
import { dryRunFlag, fileFlags, managerFlag, namespaceFlag, resultFlags, selectFlags } from './object-flags.ts';
import type { ApiItem } from './print-objects.ts';
import { Results } from './results.ts';
import { checkTargets, findTargets } from './targets.ts';
import { type ObjectRef, shownName, type Work, withServer } from './work.ts';

const count = (help: string) => flag<number | undefined>(undefined, help, 'NUMBER', (t) => readInteger(t, 0, 2 ** 31 - 1));
const scaleFlags = {
  Objects: { ...fileFlags, namespace: namespaceFlag, ...selectFlags },
  Scaling: {
    replicas: count('How many there should be.'),
    'current-replicas': count('Only if so many are wanted now.'),
    'resource-version': text('', 'Only if this is the version of the object.', { value: 'VERSION' }),
    timeout: duration('0s', 'Wait so long until there are as many; 0 does not wait.', { defaultText: '0s' }),
    'field-manager': managerFlag,
    'dry-run': dryRunFlag,
  },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type ScaleOptions = FlagValues<typeof scaleFlags>;

const POLL_MS = 200;

interface Scale extends ApiItem {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number };
}

export const scale = command({
  usage: 'TYPE NAME… | TYPE/NAME… | TYPE -l QUERY | TYPE --all | -f FILE  --replicas NUMBER [flags]',
  summary: 'Set how many replicas there should be: plat scale deployment/web --replicas=3',
  flags: scaleFlags,
  more: `
Exit codes:
  0   everything was scaled
  1   something was not, or not in time
  2   the command line is wrong
`,
  async run({ options, words }, io) {
    checkTargets('scale', words, options);
    const { replicas } = options;
    if (replicas === undefined) throw new FlagError('how many? For example: --replicas=3');
    return withServer(options, io, (work) => scaleAll(work, words, options, replicas));
  },
});

async function scaleAll(work: Work, words: readonly string[], options: ScaleOptions, replicas: number): Promise<number> {
  const results = new Results(work.io, options);
  const refs = await findTargets(work, words, options);
  if (refs.length === 0) work.io.err('No resources found\n');
  if (options.resourceVersion !== '' && refs.length > 1) throw new FlagError('--resource-version is of one object, but there are several');
  const scaled: ObjectRef[] = [];
  for (const ref of refs) {
    try {
      results.done(ref, 'scaled', await scaleOne(work, ref, options, replicas));
      scaled.push(ref);
    } catch (error) {
      results.failed(shownName(ref.resource, ref.name), await explained(work, ref, error));
    }
  }
  const until = performance.now() + options.timeout;
  if (options.timeout > 0 && options.dryRun === 'none') {
    for (const ref of scaled)
      await waitForReplicas(work, ref, replicas, until).catch((error) => results.failed(shownName(ref.resource, ref.name), error));
  }
  return results.end();
}

async function scaleOne(work: Work, ref: ObjectRef, options: ScaleOptions, replicas: number): Promise<Scale> {
  const { currentReplicas, resourceVersion, fieldManager, dryRun } = options;
  let version: string | undefined = resourceVersion === '' ? undefined : resourceVersion;
  if (currentReplicas !== undefined) {
    const now = await work.get<Scale>(ref, 'scale');
    const wanted = now.spec?.replicas ?? 0;
    if (wanted !== currentReplicas) throw new Error(`it should have ${wanted} replicas now, not ${currentReplicas}: left as it is`);
    // What was looked at must still be so when it is written.
    version ??= now.metadata?.resourceVersion;
  }
  if (dryRun === 'client') {
    const now = await work.get<Scale>(ref, 'scale');
    return { ...now, spec: { ...now.spec, replicas } };
  }
  const { object } = await work.send<Scale>(ref, {
    method: 'PATCH',
    subresource: 'scale',
    contentType: 'application/merge-patch+json',
    body: { ...(version !== undefined && { metadata: { resourceVersion: version } }), spec: { replicas } },
    query: { fieldManager, dryRun: dryRun === 'server' ? 'All' : undefined },
  });
  return object;
}

/** Either the object is missing or its kind cannot be scaled; the server's answer does not tell which. */
async function explained(work: Work, ref: ObjectRef, error: unknown): Promise<unknown> {
  if (!(error instanceof ApiError) || error.code !== 404) return error;
  return (await work.exists(ref)) ? new Error(`${ref.resource.name} cannot be scaled`) : error;
}

/** Asks again and again: where the figure stands in an object, only the server knows. */
async function waitForReplicas(work: Work, ref: ObjectRef, replicas: number, until: number): Promise<void> {
  for (;;) {
    const now = (await work.get<Scale>(ref, 'scale')).status?.replicas ?? 0;
    if (now === replicas) return;
    if (performance.now() >= until) throw new Error(`timed out: it has ${now} of ${replicas} replicas`);
    await setTimeout(POLL_MS, undefined, { signal: work.signal });
  }
}
