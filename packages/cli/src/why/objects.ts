/** `plat why not deleted`, `plat why not ready` and `plat why pending`: what an object waits for, the first cause first, and the command to type next. */
import type { DeletionExplanation } from '@plat-dev/kinds/explain/schema/object-explanations';
import { choice, FlagError } from '@plat-dev/lib/flags';
import { jsonText } from '@plat-dev/lib/json-text';
import type { JsonValue } from '@plat-dev/schema/types';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { namespaceFlag } from '../objects/object-flags.ts';
import { paintFor } from '../output/colours.ts';
import { printable } from '../output/print-table.ts';
import { sameCaller } from '../terminal/repeated-flags.ts';
import { type Work, withServer } from '../work.ts';
import { askWhy } from './ask.ts';

type Status = NonNullable<DeletionExplanation['status']>;
type Cause = NonNullable<Status['causes']>[number];
type AnsweredStatus = Pick<Status, 'causes' | 'unread' | 'incomplete'> & { readonly [state: string]: unknown };

interface ObjectQuestion {
  /** The words after `plat why`. */
  readonly words: string;
  readonly summary: string;
  readonly kind: string;
  readonly plural: string;
  readonly examples: readonly string[];
  /** The type of an argument that is only a name; undefined: a type is needed. */
  readonly usualType?: string;
  /** Whether the object is in the state that was asked about. */
  readonly holds: (status: AnsweredStatus) => boolean;
  readonly headline: (name: string, holds: boolean) => string;
}

const table = {
  Asking: { namespace: namespaceFlag },
  Printing: { output: choice('text', ['text', 'json', 'yaml'], 'Output format.', { short: 'o' }) },
  Connecting: connectFlags,
};

function objectCommand(question: ObjectQuestion) {
  const { words, summary, usualType, examples, headline } = question;
  return command({
    usage: usualType === undefined ? 'TYPE/NAME [flags]' : 'NAME | TYPE/NAME [flags]',
    summary,
    flags: table,
    more: `
Nothing is said about objects that you may not read.

Examples:
${examples.map((example) => `  plat why ${words} ${example}`).join('\n')}

Exit codes:
  0   ${headline('the object', true)}
  1   ${headline('the object', false)}, or the question failed
  2   the command line is wrong
`,
    async run({ options, args }, io) {
      const { type, name } = typeAndName(args, words, usualType);
      return withServer(options, io, (work) => explain(work, question, type, name, options.output));
    },
  });
}

function typeAndName(args: readonly string[], words: string, usualType: string | undefined): { type: string; name: string } {
  const [first = '', second, third] = args;
  const [type = '', name, more] = second === undefined ? first.split('/') : [first, second, third];
  if (type !== '' && name === undefined && usualType !== undefined) return { type: usualType, name: type };
  if (type === '' || name === undefined || name === '' || more !== undefined)
    throw new FlagError(`name one object, such as: plat why ${words} ${usualType ?? 'namespaces'}/web`);
  return { type, name };
}

async function explain(work: Work, question: ObjectQuestion, type: string, name: string, output: string): Promise<number> {
  const { io } = work;
  const { name: resource, group, namespaced } = await work.discovery.find(type);
  const spec = { group, resource, ...(namespaced && { namespace: work.namespace }), name };
  const answer = await askWhy<{ status?: AnsweredStatus }>(work, question.kind, question.plural, spec);
  const status = answer.status ?? {};
  const holds = question.holds(status);
  if (output === 'json') io.out(`${jsonText(answer, 4)}\n`);
  else if (output === 'yaml') io.out((await import('@plat-dev/schema/yaml')).stringifyYaml(answer as unknown as JsonValue));
  else io.out(textOf(work, `${question.headline(`${resource}/${name}`, holds)}.`, status));
  return holds ? 0 : 1;
}

function textOf({ io }: Work, headline: string, { causes = [], unread = 0, incomplete = [] }: AnsweredStatus): string {
  const paint = paintFor(io);
  const lines = [printable(headline)];
  causes.forEach((cause, index) => {
    lines.push('', `${index + 1}. ${printable(causeText(cause))}`);
    if (cause.command) lines.push(`   ${paint(`plat ${printable(cause.command)}${sameCaller(io.repeatedFlags)}`, 'cyan')}`);
  });
  const hidden = unread === 0 ? [] : [`${unread} object${unread === 1 ? '' : 's'} that you may not read`];
  const notLooked = [...hidden, ...incomplete.map(printable)];
  if (notLooked.length > 0) lines.push('', `Not looked at: ${notLooked.join('; ')}.`);
  return `${lines.join('\n')}\n`;
}

/** `namespaces/team → configmaps/settings: …` for causes of other objects. */
function causeText({ path = [], object, message }: Cause): string {
  if (path.length === 0 || object == null) return message;
  const chain = [...path, object].map(({ resource, name }) => `${resource}/${name}`);
  return `${chain.join(' → ')}: ${message}`;
}

export const whyNotDeleted = objectCommand({
  words: 'not deleted',
  summary: 'Explain what keeps an object from being deleted.',
  kind: 'DeletionExplanation',
  plural: 'deletionexplanations',
  examples: ['namespaces/team', 'persistentvolumeclaims/data -n team', 'widgets.example.com/one -o yaml'],
  holds: ({ deleting }) => deleting === true,
  headline: (name, holds) => `${name} is ${holds ? '' : 'not '}being deleted`,
});

export const whyPending = objectCommand({
  words: 'pending',
  summary: 'Explain why a pod is pending: what each node refuses, and what it waits for.',
  kind: 'PendingExplanation',
  plural: 'pendingexplanations',
  examples: ['web-0 -n team', 'deployments/web -n team', 'web-0 -o json'],
  usualType: 'pods',
  holds: ({ pending }) => pending === true,
  headline: (name, holds) => `${name} is ${holds ? '' : 'not '}pending`,
});

export const whyNotReady = objectCommand({
  words: 'not ready',
  summary: 'Explain why an object is not ready, down to the first cause.',
  kind: 'ReadinessExplanation',
  plural: 'readinessexplanations',
  examples: ['deployments/web -n team', 'ingresses/web -n team', 'apiservices/v1beta1.metrics.example.com'],
  holds: ({ ready }) => ready === false,
  headline: (name, holds) => `${name} is ${holds ? 'not ' : ''}ready`,
});
