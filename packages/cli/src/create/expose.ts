/** `plat expose`: a service for a pod, a workload or another service. */
import { choice, type FlagValues, text } from '@plat-dev/lib/flags';
import type { JsonObject } from '@plat-dev/schema/types';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { serviceResource } from '../discovery/core-resources.ts';
import { overridden, overrideFlags } from '../edit/local-patch.ts';
import { changeCause, commandLine, recordFlag } from '../edit/record.ts';
import { commandManagerFlag, dryRunFlag, fileFlags, namespaceFlag, resultFlags } from '../objects/object-flags.ts';
import { checkTargets, findTargets, type Target, type TargetOptions } from '../objects/targets.ts';
import { Results } from '../output/results.ts';
import { fieldManager } from '../program.ts';
import { type Work, withServer } from '../work.ts';
import { createObject, saveConfigFlag, showObject } from './create-objects.ts';
import { canBeExposed, exposingService } from './expose-service.ts';

const table = {
  Objects: { ...fileFlags, namespace: namespaceFlag },
  Service: {
    name: text('', 'Name of the service.', { value: 'NAME', defaultText: 'that of the object' }),
    port: text('', 'Port of the service; several are separated by commas.', { value: 'PORT', defaultText: 'the ports of the object' }),
    'target-port': text('', 'Name or number of the port of the pods.', { value: 'PORT', defaultText: 'the port' }),
    protocol: text('', 'Protocol: TCP, UDP or SCTP.', { value: 'PROTOCOL', defaultText: 'that of the object, else TCP' }),
    selector: text('', 'Labels of the pods.', { value: 'KEY=VALUE,…', defaultText: 'those that the object selects' }),
    labels: text('', 'Labels of the service.', { short: 'l', value: 'KEY=VALUE,…', defaultText: 'those of the object' }),
    type: text('', 'Type: ClusterIP, NodePort, LoadBalancer or ExternalName.', { value: 'TYPE', defaultText: 'ClusterIP' }),
    'cluster-ip': text('', 'Address of the service; None makes a headless one.', { value: 'IP|None' }),
    'external-ip': text('', 'Further address that leads to the service.', { value: 'IP' }),
    'load-balancer-ip': text('', 'Address of the load balancer.', { value: 'IP' }),
    'session-affinity': choice('', ['', 'None', 'ClientIP'], 'Whether requests of a client go to the same pod.', {
      value: 'None|ClientIP',
    }),
    ...overrideFlags,
  },
  Creating: { 'field-manager': commandManagerFlag, 'dry-run': dryRunFlag, 'save-config': saveConfigFlag, record: recordFlag },
  Printing: resultFlags,
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

export const expose = command({
  usage: 'TYPE NAME… | TYPE/NAME… | -f FILE [flags]',
  summary: 'Create a service for a pod, deployment, replica set, replication controller or service.',
  flags: table,
  more: `
Examples:
  plat expose deployment web --port=80 --target-port=8080
  plat expose pod/web --name=web-lb --type=LoadBalancer --port=443
  plat expose service web --name=web-headless --cluster-ip=None

Exit codes:
  0   all services were created
  1   some services failed; the others were created
  2   the command line is wrong
`,
  async run({ options, args, raw }, io) {
    checkTargets('expose', args, targetsOf(options));
    return withServer(options, io, (work) => exposeAll(work, args, options, commandLine(io, 'expose', args, raw)));
  },
});

async function exposeAll(work: Work, args: readonly string[], options: Options, line: string): Promise<number> {
  const results = new Results(work.io, options);
  const annotations = await changeCause(work, options.record, line);
  return results.each(await findTargets(work, args, targetsOf(options)), (ref) => exposeOne(work, ref, options, annotations, results));
}
/** Here --selector is that of the service, and chooses no objects. */
const targetsOf = ({ filename, recursive, kustomize, namespace }: Options): TargetOptions => ({
  filename,
  recursive,
  kustomize,
  namespace,
});

async function exposeOne(
  work: Work,
  ref: Target,
  options: Options,
  annotations: Record<string, string> | undefined,
  results: Results,
): Promise<void> {
  const { group, kind } = ref.resource;
  if (!canBeExposed(group, kind)) throw new Error(`cannot expose a ${group === '' ? kind : `${kind}.${group}`}`);
  const exposed = ref.manifest ?? (await work.getNamed<JsonObject & { kind: string }>(ref));
  const service = await overridden(exposingService({ ...exposed, kind }, options), options);
  const metadata = { ...(service.metadata as JsonObject), ...(annotations !== undefined && { annotations }) };
  const sending = { ...options, fieldManager: fieldManager(work.io, 'expose', options.fieldManager) };
  const shownIn = options.dryRun === 'client' ? options.namespace : ref.namespace;
  const object = { ...service, metadata: shownIn === undefined ? metadata : { ...metadata, namespace: shownIn } };
  const creation = { resource: serviceResource, namespace: ref.namespace, object, verb: 'exposed' };
  if (options.dryRun === 'client') showObject(work.io, creation, sending, results);
  else await createObject(work, creation, sending, results);
}
