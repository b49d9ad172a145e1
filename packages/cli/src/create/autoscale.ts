/** `plat autoscale`: an autoscaler for a workload. */
import type { ApiResource } from '@plat-dev/client/discovery';
import { FlagError, type FlagValues, int, requiredFlag, text } from '@plat-dev/lib/flags';
import { apiVersionOf } from '@plat-dev/meta/api-version';
import { ApiError } from '@plat-dev/meta/errors';
import type { JsonObject } from '@plat-dev/schema/types';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { changeCause, commandLine, recordFlag } from '../edit/record.ts';
import { commandManagerFlag, dryRunFlag, fileFlags, namespaceFlag, resultFlags } from '../objects/object-flags.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { checkTargets, findTargets, type Target } from '../objects/targets.ts';
import { Results } from '../output/results.ts';
import { fieldManager } from '../program.ts';
import { type Work, withServer } from '../work.ts';
import { createObject, saveConfigFlag, showObject } from './create-objects.ts';

const most = 2 ** 31 - 1;
const table = {
  Objects: { ...fileFlags, namespace: namespaceFlag },
  Autoscaler: {
    max: int(-1, 'Largest number of pods. Required.', { min: -1, max: most, defaultText: '' }),
    min: int(-1, 'Smallest number of pods; the server has a default.', { min: -1, max: most, defaultText: '' }),
    'cpu-percent': int(-1, 'Average processor use to aim for, in percent of the requests; the server has a default.', {
      min: -1,
      max: most,
      defaultText: '',
    }),
    name: text('', 'Name of the autoscaler.', { value: 'NAME', defaultText: 'that of the object' }),
  },
  Creating: { 'field-manager': commandManagerFlag, 'dry-run': dryRunFlag, 'save-config': saveConfigFlag, record: recordFlag },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

const autoscalers: ApiResource = {
  group: 'autoscaling',
  version: 'v1',
  name: 'horizontalpodautoscalers',
  singularName: 'horizontalpodautoscaler',
  kind: 'HorizontalPodAutoscaler',
  namespaced: true,
  verbs: [],
  shortNames: [],
  categories: [],
};

export const autoscale = command({
  usage: 'TYPE NAME… | TYPE/NAME… | -f FILE  --max NUMBER [flags]',
  summary: 'Create an autoscaler for a workload.',
  flags: table,
  more: `
Examples:
  plat autoscale deployment web --min=2 --max=10
  plat autoscale deployment/web --max=5 --cpu-percent=80
  plat autoscale statefulset/db --max=3 --name=db-scaler --dry-run=client -o yaml

Exit codes:
  0   all autoscalers were created
  1   some autoscalers failed; the others were created
  2   the command line is wrong
`,
  async run({ options, args, raw }, io) {
    checkTargets('autoscale --max=5', args, options);
    if (options.max < 1) throw new FlagError('how many? For example: --max=10', requiredFlag('max'));
    if (options.max < options.min) throw new FlagError(`--max=${options.max} is less than --min=${options.min}`);
    return withServer(options, io, (work) => autoscaleAll(work, args, options, commandLine(io, 'autoscale', args, raw)));
  },
});

async function autoscaleAll(work: Work, args: readonly string[], options: Options, line: string): Promise<number> {
  const results = new Results(work.io, options);
  const annotations = await changeCause(work, options.record, line);
  return results.each(await findTargets(work, args, options), async (ref) => {
    await checkScalable(work, ref);
    await autoscaleOne(work, ref, options, annotations, results);
  });
}

/** An autoscaler of an object that cannot be scaled would never do anything. */
async function checkScalable(work: Work, ref: Target): Promise<void> {
  try {
    await work.get(ref, 'scale');
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 404) throw error;
    if (await work.exists(ref)) throw new Error(`cannot autoscale a ${ref.resource.kind}: it cannot be scaled`);
    // The object is missing, and the error of its own path says so. One of a file may be created later.
    if (ref.manifest === undefined) await work.getNamed(ref);
  }
}

async function autoscaleOne(
  work: Work,
  ref: ObjectRef,
  options: Options,
  annotations: Record<string, string> | undefined,
  results: Results,
): Promise<void> {
  const { min, max, cpuPercent, dryRun } = options;
  const namespace = dryRun === 'client' ? options.namespace : ref.namespace;
  const object: JsonObject = {
    apiVersion: apiVersionOf(autoscalers),
    kind: autoscalers.kind,
    metadata: {
      name: options.name === '' ? ref.name : options.name,
      ...(namespace !== undefined && { namespace }),
      ...(annotations !== undefined && { annotations }),
    },
    spec: {
      maxReplicas: max,
      ...(min > 0 && { minReplicas: min }),
      scaleTargetRef: { apiVersion: apiVersionOf(ref.resource), kind: ref.resource.kind, name: ref.name },
      ...(cpuPercent >= 0 && { targetCPUUtilizationPercentage: cpuPercent }),
    },
  };
  const sending = { ...options, fieldManager: fieldManager(work.io, 'autoscale', options.fieldManager) };
  if (dryRun === 'client') showObject(work.io, { resource: autoscalers, namespace, object, verb: 'created' }, sending, results);
  else await createObject(work, { resource: autoscalers, namespace: ref.namespace, object, verb: 'autoscaled' }, sending, results);
}
