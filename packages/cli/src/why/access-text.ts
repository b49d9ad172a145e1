/** Who may do what, and why, in words. */
import type { AnswerStatus } from '@plat-dev/client/why';
import type { Subject } from '@plat-dev/kinds/rbac/schema/v1';
import { own } from '@plat-dev/lib/own';
import type { JsonValue } from '@plat-dev/schema/types';
import { type Paint, plain } from '../output/colours.ts';
import { printable } from '../output/print-table.ts';
import { tabbed } from '../output/tabbed-columns.ts';

type Grant = NonNullable<AnswerStatus<'AccessExplanation'>['nearest']>[number];

const lackTexts: Readonly<Record<string, string>> = {
  subject: 'it is bound to others',
  role: 'the role does not exist',
  verb: 'its rule lacks the verb',
  apiGroup: 'its rule is for another API group',
  resource: 'its rule is for another resource',
  resourceName: 'its rule is for other names',
  path: 'its rule is for another path',
};

/** `RoleBinding team/readers of ClusterRole view: its rule lacks the verb (get,list pods)`. */
function grantText({ binding, role, rule, lacks = [] }: Grant): string {
  const why = lacks.map((lack) => own(lackTexts, lack) ?? lack).join(', ');
  const head = `${placeText(binding)} of ${placeText(role)}`;
  return printable(`${head}${why === '' ? '' : `: ${why}`}${rule == null ? '' : ` (${ruleText(rule)})`}`);
}

const placeText = ({ kind = '', name = '', namespace = '' }: Grant['binding']): string =>
  printable(`${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`);

/** `User alice`, `ServiceAccount build/ci`. */
const subjectText = ({ kind = '', name = '', namespace = '' }: Subject): string => placeText({ kind, name, namespace });

function ruleText({ verbs = [], resources = [], resourceNames = [], nonResourceURLs = [] }: NonNullable<Grant['rule']>): string {
  const names = resourceNames.length === 0 ? '' : ` ${resourceNames.join(',')}`;
  return `${verbs.join(',')} ${[...resources, ...nonResourceURLs].join(',')}${names}`;
}

/** A request and what was decided about it. */
interface ExplainedAccess {
  readonly verb: string;
  readonly target: string;
  readonly who: string;
  readonly status: AnswerStatus<'AccessExplanation'>;
  /** The words are comments, so that all of it can be applied. */
  readonly isManifest?: boolean;
}
/** `yaml` is passed in, because most commands do without that module. */
export function accessText(
  { verb, target, who, status, isManifest = false }: ExplainedAccess,
  yaml: (value: JsonValue) => string,
  paint: Paint = plain,
): string {
  const { allowed, authorizers = [], allowedBy = [], nearest = [], proposal } = status;
  const may = allowed ? paint('may', 'green') : paint('may not', 'red');
  const lines = [`${printable(who)} ${may} ${printable(verb)} ${printable(target)}.`];
  const asked = authorizers.map(({ name, decision }) => `${printable(name ?? '')} (${printable(decision ?? '')})`);
  lines.push(`Authorizers asked: ${asked.join(', ')}`);
  for (const { reason } of authorizers) if (allowed && reason) lines.push(`  ${printable(reason)}`);
  if (allowedBy.length > 0) lines.push('', 'Allowed by:', ...allowedBy.map((grant) => `  ${grantText(grant)}`));
  if (nearest.length > 0) lines.push('', 'Nearest bindings:', ...nearest.map((grant) => `  ${grantText(grant)}`));
  const owners = nearest.flatMap(({ lacks = [], subjects = [] }) => (lacks.includes('subject') ? subjects : []));
  if (owners.length > 0) lines.push('', `Those who may: ${[...new Set(owners.map(subjectText))].slice(0, 10).join(', ')}`);
  if (proposal != null) lines.push('', 'The smallest role that would allow it, for `plat apply -f -`:', '');
  else if (!allowed) lines.push('', 'No role can allow it: RBAC is not asked, or an authorizer before it refuses.');
  const documents = proposal == null ? [] : [proposal.role, proposal.binding].map((object) => `---\n${yaml(object as JsonValue)}`);
  return [...lines.map((line) => `${isManifest ? `# ${line}`.trimEnd() : line}\n`), ...documents].join('');
}

/** A table of those who may do something. */
export const subjectsText = ({ subjects = [] }: AnswerStatus<'SubjectSearch'>): string =>
  tabbed([['KIND', 'NAME', 'NAMESPACE', 'BINDING', 'ROLE'], ...subjects.map(row)], { least: 6, padding: 3 });

function row({ subject, binding, role, aggregatedFrom = [] }: NonNullable<AnswerStatus<'SubjectSearch'>['subjects']>[number]): string[] {
  const { kind = '', name = '', namespace = '' } = subject;
  const from = aggregatedFrom.length === 0 ? '' : ` (from ${aggregatedFrom.join(', ')})`;
  return [
    ...[kind, name, namespace].map(printable),
    binding == null ? '' : placeText(binding),
    role == null ? 'everything is allowed' : `${placeText(role)}${printable(from)}`,
  ];
}
