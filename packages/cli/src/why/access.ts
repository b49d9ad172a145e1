/** `plat why denied` and `plat why allowed`: what decided about a request, and what would allow it. */
import { choice, FlagError, type FlagValues, text } from '@plat-dev/lib/flags';
import { own } from '@plat-dev/lib/own';
import { type ActionSpec, actionFlags, actionOf, verbAndTarget } from '../auth/asked-action.ts';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { paintFor } from '../output/colours.ts';
import { printable } from '../output/print-table.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { type Work, withServer } from '../work.ts';
import { accessText } from './access-text.ts';
import { askWhy, printAnswer } from './ask.ts';
import { deniedQuestion, withQuestion } from './hint.ts';

const table = {
  Asking: { ...actionFlags, 'audit-id': text('', 'Ask about the refused request with this audit id.', { value: 'ID' }) },
  Printing: { output: choice('text', ['text', 'json', 'yaml'], 'Output format.', { short: 'o' }) },
  Connecting: connectFlags,
};
type Options = FlagValues<typeof table>;

function accessCommand(word: 'denied' | 'allowed', summary: string) {
  const name = `plat why ${word}`;
  return command({
    usage: word === 'denied' ? '[VERB TYPE | TYPE/NAME | /PATH] [flags]' : 'VERB TYPE | TYPE/NAME | /PATH [flags]',
    summary,
    flags: table,
    more: `
${word === 'denied' ? 'Without arguments it is about the last request of yours that was refused, as far as the server remembers.\n\n' : ''}With --as and --as-group the answer is about that user, which needs the right to create subjectaccessreviews; the request itself is
yours. Roles and bindings that you may not list are left out.${word === 'denied' ? ' In files and pipes the words are comments of YAML, so that the\noutput can be applied.' : ''}

Examples:
  ${name} delete pods/web -n team
  ${name} list secrets --as=alice
  ${name} get /metrics --as=system:serviceaccount:monitoring:prometheus${word === 'denied' ? `\n  ${name} patch deployments/web --subresource scale --as=alice | plat apply -f -` : ''}

Exit codes:
  0   the request is ${word}
  1   it is not, or the question failed
  2   the command line is wrong
`,
    async run({ options, args }, io) {
      if (options.auditId !== '' && args.length > 0) throw new FlagError('--audit-id names the request: leave out the verb and the type');
      const isLast = args.length === 0 && word === 'denied';
      const named = isLast ? undefined : verbAndTarget(args, name);
      if (named !== undefined) checkCommand(named, name);
      return withServer({ ...options, as: undefined, asGroup: [], asUid: undefined }, io, async (work) => {
        const asked =
          named === undefined
            ? await lastRefusal(work, options)
            : { ...named, target: targetText(named.target, options), action: await actionOf(work, named.verb, named.target, options) };
        return explain(work, word, asked, options);
      });
    },
  });
}
export const whyDenied = accessCommand('denied', 'Explain why a request is refused, and which role would allow it.');
export const whyAllowed = accessCommand('allowed', 'Explain which binding and rule allow a request.');

const targetText = (target: string, { subresource }: Options): string =>
  subresource === '' ? target : `${target} (subresource ${subresource})`;

/** Commands that people take for verbs, with what their requests have. */
const requestsOfCommands: Readonly<Record<string, readonly [verb: string, subresource?: string]>> = {
  edit: ['patch'],
  exec: ['create', 'exec'],
  logs: ['get', 'log'],
  scale: ['patch', 'scale'],
};
/** A role with such a verb would allow nothing. */
function checkCommand({ verb, target }: Pick<AskedAction, 'verb' | 'target'>, name: string): void {
  const [requestVerb, subresource] = own(requestsOfCommands, verb) ?? [];
  if (requestVerb === undefined) return;
  const question = `${name} ${requestVerb} ${shellWord(target)}${subresource === undefined ? '' : ` --subresource ${subresource}`}`;
  throw new FlagError(`${verb} is a command and not a verb of requests: ask \`${question}\``);
}

interface AskedAction {
  readonly verb: string;
  readonly target: string;
  /** The part of the spec that names it. */
  readonly action: ActionSpec;
}
/** The newest refusal that the server remembers, of this user or of the one of --as. */
async function lastRefusal(work: Work, { auditId, as = '' }: Options): Promise<AskedAction> {
  const spec = { ...(auditId !== '' && { auditID: auditId }), ...(as !== '' && { user: as }) };
  const command = `plat why denied${auditId === '' ? '' : ` --audit-id ${shellWord(auditId)}`}`;
  const { status } = await askWhy(work, 'RefusalSearch', spec).catch((error: unknown) => {
    throw withQuestion(error, { command, as: as === '' ? undefined : as });
  });
  const refusal = status?.refusals?.[0];
  if (refusal === undefined) {
    const which = auditId === '' ? '' : ` with the audit id ${auditId}`;
    throw new Error(
      `the server remembers no refused request${which} of ${as === '' ? 'yours' : as}: name one, as in plat why denied list pods`,
    );
  }
  const { auditID, time, resourceAttributes, nonResourceAttributes } = refusal;
  work.io.err(printable(`Refused at ${String(time)}, audit id ${auditID}`).concat('\n'));
  if (nonResourceAttributes != null) {
    const { verb = '', path = '' } = nonResourceAttributes;
    return { verb, target: path, action: { nonResourceAttributes } };
  }
  const { verb = '', group = '', resource = '', subresource = '', name = '', namespace = '' } = resourceAttributes ?? {};
  const type = `${resource}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`;
  const place = namespace === '' ? '' : ` in namespace ${namespace}`;
  return { verb, target: `${type}${name === '' ? '' : ` ${name}`}${place}`, action: { resourceAttributes } };
}

async function explain(work: Work, word: 'denied' | 'allowed', { verb, target, action }: AskedAction, options: Options): Promise<number> {
  const spec = { ...action, ...subjectOf(options) };
  const answer = await askWhy(work, 'AccessExplanation', spec).catch((error: unknown) => {
    throw withQuestion(error, { command: questionText(word, action), as: options.as });
  });
  const { io } = work;
  const { status } = answer;
  await printAnswer(io, options.output, answer, async () => {
    const { stringifyYaml } = await import('@plat-dev/schema/yaml');
    const isManifest = word === 'denied' && io.terminal.size() === undefined;
    return accessText({ verb, target, who: options.as ?? 'You', status, isManifest }, stringifyYaml, paintFor(io));
  });
  return status.allowed === (word === 'allowed') ? 0 : 1;
}
function questionText(word: 'denied' | 'allowed', { resourceAttributes, nonResourceAttributes }: ActionSpec): string {
  const { verb = '', path = '' } = nonResourceAttributes ?? {};
  const question =
    resourceAttributes == null ? `plat why denied ${shellWord(verb)} ${shellWord(path)}` : deniedQuestion(resourceAttributes);
  return question.replace('denied', word);
}

/** Groups that every user of that name has, as with impersonation. */
function subjectOf({ as, asGroup = [] }: Options): object {
  if (as === undefined || as === '') return {};
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(as) ?? [];
  const ownGroups = namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return { user: as, groups: [...new Set([...asGroup, ...ownGroups, 'system:authenticated'])] };
}
