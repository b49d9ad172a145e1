/** `plat auth can-i`: checks with the server whether an action is allowed. */

import { bool, FlagError, type FlagValues, text } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import { didYouMean } from '@plat-dev/lib/suggest';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { command } from '../command.ts';
import { columns } from '../config/contexts.ts';
import { connectFlags } from '../connect.ts';
import { fullGroup } from '../discovery/api-groups.ts';
import { namespaceFlag } from '../objects/object-flags.ts';
import { printable } from '../output/print-table.ts';
import { isStock } from '../program.ts';
import { type Work, withServer } from '../work.ts';

const table = {
  Asking: {
    namespace: namespaceFlag,
    'all-namespaces': bool(false, 'Check in all namespaces.', { short: 'A' }),
    subresource: text('', 'Subresource to check, such as log or scale.', { value: 'NAME' }),
    list: bool(false, 'List all allowed actions in the namespace.'),
  },
  Printing: {
    quiet: bool(false, 'Print nothing; use the exit code.', { short: 'q' }),
    'no-headers': bool(false, 'Do not print the headers of --list.'),
  },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

const resourceVerbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const rareVerbs = ['use', 'bind', 'escalate', 'impersonate', 'approve', 'sign', 'proxy', '*'];
const urlVerbs = ['get', 'put', 'post', 'head', 'options', 'delete', 'patch', '*'];

export const canI = command({
  usage: 'VERB TYPE | TYPE/NAME | /PATH [flags]',
  summary: 'Check whether an action is allowed.',
  flags: table,
  more: `
Examples:
  plat auth can-i create pods -n team
  plat auth can-i get /metrics --as=alice
  plat auth can-i --list -n team

Exit codes:
  0   the action is allowed
  1   the action is not allowed, or the request failed
  2   the command line is wrong
`,
  async run({ options, args }, io) {
    if (options.list) {
      if (args.length > 0) throw new FlagError(`--list takes no arguments, but got ${JSON.stringify(args[0])}`);
      return withServer(options, io, (work) => list(work, options));
    }
    const [verb, target, more] = args;
    if (verb === undefined || target === undefined) {
      throw new FlagError('verb or resource missing. For example: plat auth can-i create pods, plat auth can-i get deployment/web');
    }
    const named = more !== undefined && !target.includes('/') && args.length === 3 ? `${target}/${more}` : target;
    if (args.length > 3 || (more !== undefined && named === target)) throw new FlagError(`too many arguments: ${JSON.stringify(more)}`);
    return withServer(options, io, (work) => ask(work, verb, named, options));
  },
});

interface Review {
  status?: { allowed?: boolean; denied?: boolean; reason?: string; evaluationError?: string };
}
async function ask(work: Work, verb: string, target: string, options: Options): Promise<number> {
  const spec = target.startsWith('/') ? aboutPath(work, verb, target, options) : await aboutResource(work, verb, target, options);
  const group = await fullGroup(work, 'authorization');
  const { status = {} } = await review<Review>(work, group, 'SelfSubjectAccessReview', 'selfsubjectaccessreviews', spec);
  if (!options.quiet) {
    const reason = status.reason ? ` - ${printable(status.reason)}` : '';
    const failure = status.evaluationError ? ` - ${printable(status.evaluationError)}` : '';
    work.io.out(status.allowed ? 'yes\n' : `no${reason}${failure}\n`);
  }
  return status.allowed ? 0 : 1;
}

function aboutPath(work: Work, verb: string, path: string, options: Options): object {
  if (options.subresource !== '') throw new FlagError('--subresource can not be used with NonResourceURL');
  checkVerb(work, verb, urlVerbs, []);
  return { nonResourceAttributes: { verb, path } };
}

async function aboutResource(work: Work, verb: string, target: string, options: Options): Promise<object> {
  checkVerb(work, verb, resourceVerbs, rareVerbs);
  const [type = '', name, more] = target.split('/');
  if (type === '' || name === '' || more !== undefined)
    throw new FlagError(`${JSON.stringify(target)} is not of the form type or type/name`);
  const { resource, group, namespaced } = await named(work, type);
  warnOfScope(work, { resource, group, namespaced }, options);
  const namespace = options.allNamespaces || !namespaced ? '' : work.namespace;
  return {
    resourceAttributes: {
      verb,
      group,
      resource,
      ...(namespace !== '' && { namespace }),
      ...(options.subresource !== '' && { subresource: options.subresource }),
      ...(name !== undefined && { name }),
    },
  };
}
/** The stock client warns whether or not a namespace was named. */
function warnOfScope(work: Work, { resource, group, namespaced }: Asked, { namespace, allNamespaces }: Options): void {
  if (namespaced) return;
  if (!isStock(work.io) && namespace !== undefined) work.io.err(`Warning: ${resource} are cluster-scoped, -n has no effect\n`);
  if (isStock(work.io) && !allNamespaces)
    work.io.err(`Warning: resource '${resource}' is not namespace scoped${group === '' ? '' : ` in group '${group}'`}\n`);
}
interface Asked {
  readonly resource: string;
  readonly group: string;
  readonly namespaced: boolean;
}
/** Rules may name resources that are not served yet, so an unknown resource is still checked. */
async function named(work: Work, type: string): Promise<Asked> {
  if (type === '*' || type.startsWith('*.')) return { resource: '*', group: type.slice(2) || '*', namespaced: true };
  try {
    const { name, group, namespaced } = await work.discovery.find(type);
    return { resource: name, group, namespaced };
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes('resource type')) throw error;
    const [resource = '', ...rest] = type.split('.');
    const group = rest.join('.');
    const place = group === '' ? '' : ` in group '${group}'`;
    work.io.err(`Warning: ${isStock(work.io) ? `the server doesn't have a resource type '${resource}'${place}` : error.message}\n`);
    return { resource, group, namespaced: true };
  }
}
function checkVerb(work: Work, verb: string, usual: readonly string[], rare: readonly string[]): void {
  if (usual.includes(verb) || rare.includes(verb)) return;
  const unknown = isStock(work.io)
    ? `verb '${verb}' is not a known verb`
    : `${JSON.stringify(verb)} is not a standard verb${didYouMean(verb, usual)}`;
  work.io.err(`Warning: ${unknown}\n`);
}

// ---- all that is allowed ---------------------------------------------------------------------------------------

interface RulesReview {
  status?: {
    resourceRules?: { verbs?: string[]; apiGroups?: string[]; resources?: string[]; resourceNames?: string[] }[];
    nonResourceRules?: { verbs?: string[]; nonResourceURLs?: string[] }[];
    incomplete?: boolean;
    evaluationError?: string;
  };
}
async function list(work: Work, options: Options): Promise<number> {
  const group = await fullGroup(work, 'authorization');
  const spec = { namespace: work.namespace };
  const { status = {} } = await review<RulesReview>(work, group, 'SelfSubjectRulesReview', 'selfsubjectrulesreviews', spec);
  if (status.incomplete)
    work.io.err(`Warning: the list is not complete: ${printable(status.evaluationError || 'some rules could not be listed')}\n`);
  const rows = rowsOf(status, !isStock(work.io));
  if (!options.quiet)
    work.io.out(columns([...(options.noHeaders ? [] : [['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs']]), ...rows]));
  return 0;
}
/** Rules for the same resources are merged into one line; those for the same path, too, if `mergesPaths`. */
function rowsOf(status: NonNullable<RulesReview['status']>, mergesPaths: boolean): string[][] {
  const verbs = new Map<string, { row: [string, string, string]; verbs: Set<string> }>();
  const add = (row: [string, string, string], moreVerbs: readonly string[] = []): void => {
    const key = row[0] === '' && !mergesPaths ? `${verbs.size}` : row.join('\n');
    const accessRow = verbs.get(key) ?? { row, verbs: new Set() };
    for (const verb of moreVerbs) accessRow.verbs.add(verb);
    verbs.set(key, accessRow);
  };
  const brackets = (items: Iterable<string>): string => `[${printable([...items].join(' '))}]`;
  for (const rule of status.resourceRules ?? [])
    for (const group of rule.apiGroups ?? [])
      for (const resource of rule.resources ?? []) {
        const resourceText = group === '' ? resource : `${resource}.${group}`;
        add([printable(resourceText), '[]', brackets([...(rule.resourceNames ?? [])].sort())], rule.verbs);
      }
  for (const rule of status.nonResourceRules ?? [])
    for (const url of rule.nonResourceURLs ?? []) add(['', brackets([url]), '[]'], rule.verbs);
  return [...verbs.values()]
    .sort((a, b) => (a.row.join() < b.row.join() ? -1 : 1))
    .sort((a, b) => Number(a.row[0] === '') - Number(b.row[0] === ''))
    .map((one) => [...one.row, brackets(one.verbs)]);
}

function review<T>(work: Work, group: string, kind: string, resource: string, spec: object): Promise<T> {
  return work.session.transport.json<T>({
    method: 'POST',
    path: `/apis/${group}/v1/${resource}`,
    headers: { 'content-type': 'application/json' },
    body: jsonText({ kind, apiVersion: joinApiVersion(group, 'v1'), spec }),
    signal: work.signal,
    ...work.session.timeout,
  });
}
