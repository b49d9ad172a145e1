/** `plat auth can-i`: checks with the server whether an action is allowed. */

import { bool, FlagError, type FlagValues } from '@plat-dev/lib/flags';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { command } from '../command.ts';
import { columns } from '../config/contexts.ts';
import { connectFlags } from '../connect.ts';
import { fullGroup } from '../discovery/api-groups.ts';
import { printable } from '../output/print-table.ts';
import { isStock } from '../program.ts';
import { type Work, withServer } from '../work.ts';
import { actionFlags, actionOf, askServer, verbAndTarget } from './asked-action.ts';

const table = {
  Asking: {
    ...actionFlags,
    list: bool(false, 'List all allowed actions in the namespace.'),
  },
  Printing: {
    quiet: bool(false, 'Print nothing; use the exit code.', { short: 'q' }),
    'no-headers': bool(false, 'Do not print the headers of --list.'),
  },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

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
    const { verb, target } = verbAndTarget(args, 'plat auth can-i');
    return withServer(options, io, (work) => ask(work, verb, target, options));
  },
});

interface Review {
  status?: { allowed?: boolean; denied?: boolean; reason?: string; evaluationError?: string };
}
async function ask(work: Work, verb: string, target: string, options: Options): Promise<number> {
  const spec = await actionOf(work, verb, target, options);
  const group = await fullGroup(work, 'authorization');
  const { status = {} } = await askServer<Review>(
    work,
    joinApiVersion(group, 'v1'),
    'SelfSubjectAccessReview',
    'selfsubjectaccessreviews',
    spec,
  );
  if (!options.quiet) {
    const reason = status.reason ? ` - ${printable(status.reason)}` : '';
    const failure = status.evaluationError ? ` - ${printable(status.evaluationError)}` : '';
    work.io.out(status.allowed ? 'yes\n' : `no${reason}${failure}\n`);
  }
  return status.allowed ? 0 : 1;
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
  const { status = {} } = await askServer<RulesReview>(
    work,
    joinApiVersion(group, 'v1'),
    'SelfSubjectRulesReview',
    'selfsubjectrulesreviews',
    spec,
  );
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
