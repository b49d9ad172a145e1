/** `plat cluster-info`: the addresses of the server and its services, and a dump for debugging. */
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { resourcePath } from '@plat-dev/client/discovery';
import { errorOf, readAll } from '@plat-dev/client/transport';
import { makeDirectory } from '@plat-dev/lib/files/directories';
import { bool, duration, FlagError, type FlagValues, flag, list, text } from '@plat-dev/lib/flags';
import { domainName, groupName, type Identity, identities } from '@plat-dev/meta/identity';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { templateFlags } from '../objects/object-flags.ts';
import { formPrinter, readResultForm, resultFormNames } from '../output/print-forms.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { printable } from '../output/print-table.ts';
import { containersOf, type Pod, podPath } from '../pods/select-pods.ts';
import { isStock, programName } from '../program.ts';
import { type Work, withServer } from '../work.ts';
import { fullGroup } from './api-groups.ts';

const table = { Connecting: connectFlags };
const dumpTable = {
  Dumping: {
    namespaces: list([], 'Namespaces to dump.', { defaultText: 'those of the context and of the system' }),
    'all-namespaces': bool(false, 'Dump all namespaces.', { short: 'A' }),
    'pod-running-timeout': duration('20s', 'Longest wait for the log of a container.'),
    'output-directory': text('', 'Write one file per resource and log to this directory; default is stdout.', { value: 'DIR' }),
    output: flag<string>('json', 'Output format of objects.', resultFormNames, readResultForm, { short: 'o' }),
    ...templateFlags,
  },
  Connecting: connectFlags,
};
type DumpOptions = FlagValues<typeof dumpTable>;

interface Service {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: { readonly ports?: readonly { readonly name?: string; readonly port: number }[] };
}

export const clusterInfo = command({
  usage: '[dump] [flags]',
  summary: 'Show the addresses of the control plane and its services.',
  flags: table,
  more: `
Examples:
  plat cluster-info
  plat cluster-info --context dev
  plat cluster-info dump --namespaces=team --output-directory=./dump
`,
  commands: [{ name: 'dump', summary: 'Print objects, events and logs.', load: async () => dump }],
  async run({ options, args }, io) {
    if (args.length > 0 && !isStock(io))
      throw new FlagError(`unexpected argument ${JSON.stringify(args[0])}: there is only \`plat cluster-info dump\``);
    return withServer(options, io, async (work) => {
      const { server } = work.session.connection;
      const identity = await identityAt(work);
      const label = `${domainName(identity, 'cluster-service')}=true`;
      const path = `/api/v1/namespaces/${identity.namespaces.system}/services?labelSelector=${encodeURIComponent(label)}`;
      const { items } = await get<{ items?: Service[] | null }>(work, path);
      io.out(`${isStock(io) ? 'Kubernetes' : 'The'} control plane is running at ${server}\n`);
      for (const service of items ?? []) io.out(`${printable(titleOf(service, identity))} is running at ${server}${proxyPath(service)}\n`);
      io.out(`\nTo further debug and diagnose cluster problems, use '${programName(io)} cluster-info dump'.\n`);
      return 0;
    });
  },
});
export async function identityAt(work: Work): Promise<Identity> {
  const group = await fullGroup(work, 'authorization');
  const groupIdentity = Object.values(identities).find((identity) => groupName(identity, 'authorization') === group);
  if (groupIdentity === undefined) throw new Error(`unknown identity: the server serves the group ${group}`);
  return groupIdentity;
}
const titleOf = ({ metadata }: Service, identity: Identity): string => metadata.labels?.[domainName(identity, 'name')] ?? metadata.name;
function proxyPath({ metadata, spec }: Service): string {
  const [port] = spec?.ports ?? [];
  const scheme = port !== undefined && (port.name === 'https' || port.port === 443) ? 'https:' : '';
  const name = scheme === '' && port?.name === undefined ? metadata.name : `${scheme}${metadata.name}:${port?.name ?? ''}`;
  return `/api/v1/namespaces/${metadata.namespace}/services/${name}/proxy`;
}
const get = <T>(work: Work, path: string): Promise<T> =>
  work.session.transport.json<T>({ path, signal: work.signal, ...work.session.timeout });

const dump = command({
  usage: '[flags]',
  summary: 'Print nodes, and the events, services, workloads, pods and logs of each namespace.',
  flags: dumpTable,
  more: `
Examples:
  plat cluster-info dump
  plat cluster-info dump --namespaces=team,default --output-directory=./dump
  plat cluster-info dump -A -o yaml
`,
  async run({ options, args }, io) {
    if (args.length > 0) throw new FlagError(`unexpected argument ${JSON.stringify(args[0])}`);
    return withServer(options, io, (work) => dumpAll(work, options));
  },
});
const types = ['events', 'replicationcontrollers', 'services', 'daemonsets.apps', 'deployments.apps', 'replicasets.apps', 'pods'];

async function dumpAll(work: Work, options: DumpOptions): Promise<number> {
  // On the standard output documents have markers between them; a file has one.
  const shared = formPrinter(options, work.io);
  const ending = options.output === 'yaml' ? 'yaml' : options.output === 'json' ? 'json' : 'txt';
  const put = async (place: string, content: string): Promise<void> => {
    if (options.outputDirectory === '') return work.io.out(content);
    const path = resolve(work.io.cwd, options.outputDirectory, place);
    makeDirectory(join(path, '..'));
    await writeFile(path, content);
  };
  const objects = async (place: string, value: unknown): Promise<void> => {
    const printer = options.outputDirectory === '' ? shared : formPrinter(options, work.io);
    await put(`${place}.${ending}`, await printer.one({ item: value as ApiItem }));
  };
  await objects('nodes', await get(work, '/api/v1/nodes'));
  for (const namespace of await namespacesOf(work, options)) {
    for (const type of types) {
      const value = await get<{ items?: Pod[] | null }>(work, resourcePath(await work.discovery.find(type), namespace));
      await objects(join(namespace, type.replace('.apps', '')), value);
      if (type !== 'pods') continue;
      for (const pod of value.items ?? [])
        await put(join(namespace, pod.metadata.name, 'logs.txt'), await logsOf(work, namespace, pod, options.podRunningTimeout));
    }
  }
  if (options.outputDirectory !== '') work.io.out(`Cluster info dumped to ${options.outputDirectory}\n`);
  return 0;
}
async function namespacesOf(work: Work, options: DumpOptions): Promise<string[]> {
  if (options.allNamespaces) {
    const { items } = await get<{ items?: { metadata: { name: string } }[] }>(work, '/api/v1/namespaces');
    return (items ?? []).map(({ metadata }) => metadata.name);
  }
  if (options.namespaces.length > 0) return [...options.namespaces];
  return [...new Set([(await identityAt(work)).namespaces.system, work.namespace])];
}
/** A log that cannot be read does not end the dump. */
async function logsOf(work: Work, namespace: string, pod: Pod, timeout: number): Promise<string> {
  const parts: string[] = [];
  for (const { name } of containersOf(pod)) {
    parts.push(`==== START logs for container ${name} of pod ${namespace}/${pod.metadata.name} ====\n`);
    try {
      const path = `${podPath(namespace, pod.metadata.name)}/log?container=${encodeURIComponent(name)}`;
      const answer = await work.session.transport.open({ path, signal: work.signal, timeout, ...work.session.timeout });
      if (answer.status >= 300) throw await errorOf(answer);
      parts.push((await readAll(answer.body, LOG_LIMIT)).toString());
    } catch (error) {
      if (work.signal.aborted) throw error;
      parts.push(`cannot read the log: ${(error as Error).message}\n`);
    }
    parts.push(`==== END logs for container ${name} of pod ${namespace}/${pod.metadata.name} ====\n`);
  }
  return parts.join('');
}
/** A log that is longer is not in the dump. */
const LOG_LIMIT = 256 << 20;
