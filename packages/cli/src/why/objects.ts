/** `plat why not deleted`, `plat why not ready` and `plat why pending`: what an object waits for, the first cause first, and the command to type next. */
import { choice, FlagError } from '@plat-dev/lib/flags';
import { command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { namespaceFlag } from '../objects/object-flags.ts';
import { paintFor } from '../output/colours.ts';
import { sameCaller } from '../terminal/repeated-flags.ts';
import { type Work, withServer } from '../work.ts';
import { askWhy, printAnswer } from './ask.ts';
import { holds, type ObjectQuestionKind, objectHeadline, objectText } from './object-text.ts';

interface ObjectQuestion {
  /** The words after `plat why`. */
  readonly words: string;
  readonly summary: string;
  readonly kind: ObjectQuestionKind;
  readonly examples: readonly string[];
  /** The type of an argument that is only a name; undefined: a type is needed. */
  readonly usualType?: string;
}

const table = {
  Asking: { namespace: namespaceFlag },
  Printing: { output: choice('text', ['text', 'json', 'yaml'], 'Output format.', { short: 'o' }) },
  Connecting: connectFlags,
};

function objectCommand(question: ObjectQuestion) {
  const { words, summary, usualType, examples, kind } = question;
  return command({
    usage: usualType === undefined ? 'TYPE/NAME [flags]' : 'NAME | TYPE/NAME [flags]',
    summary,
    flags: table,
    more: `
Nothing is said about objects that you may not read.

Examples:
${examples.map((example) => `  plat why ${words} ${example}`).join('\n')}

Exit codes:
  0   ${objectHeadline(kind, 'the object', true)}
  1   ${objectHeadline(kind, 'the object', false)}, or the question failed
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
  const answer = await askWhy(work, question.kind, spec);
  const state = { kind: question.kind, name: `${resource}/${name}`, status: answer.status };
  await printAnswer(io, output, answer, () => objectText(state, sameCaller(io.repeatedFlags), paintFor(io)));
  return holds(answer.status) ? 0 : 1;
}

export const whyNotDeleted = objectCommand({
  words: 'not deleted',
  summary: 'Explain what keeps an object from being deleted.',
  kind: 'DeletionExplanation',
  examples: ['namespaces/team', 'persistentvolumeclaims/data -n team', 'widgets.example.com/one -o yaml'],
});

export const whyPending = objectCommand({
  words: 'pending',
  summary: 'Explain why a pod is pending: what each node refuses, and what it waits for.',
  kind: 'PendingExplanation',
  examples: ['web-0 -n team', 'deployments/web -n team', 'web-0 -o json'],
  usualType: 'pods',
});

export const whyNotReady = objectCommand({
  words: 'not ready',
  summary: 'Explain why an object is not ready, down to the first cause.',
  kind: 'ReadinessExplanation',
  examples: ['deployments/web -n team', 'ingresses/web -n team', 'apiservices/v1beta1.metrics.example.com'],
});
