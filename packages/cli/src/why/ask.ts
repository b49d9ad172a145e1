/** Questions why, over the connection of a command, and their answers in the form of --output. */
import { type Answer, askWhy as ask, type Question, type QuestionSpec } from '@plat-dev/client/why';
import { jsonText } from '@plat-dev/lib/json-text';
import type { JsonValue } from '@plat-dev/schema/types';
import type { IO } from '../command.ts';
import { askedServer } from '../discovery/api-groups.ts';
import type { Work } from '../work.ts';

export const askWhy = <K extends Question>(work: Work, kind: K, spec: QuestionSpec<K>): Promise<Answer<K>> =>
  ask(askedServer(work), kind, spec);

/** `text`: the answer for people. */
export async function printAnswer(io: IO, output: string, answer: object, text: () => string | Promise<string>): Promise<void> {
  if (output === 'json') io.out(`${jsonText(answer, 4)}\n`);
  else if (output === 'yaml') io.out((await import('@plat-dev/schema/yaml')).stringifyYaml(answer as JsonValue));
  else io.out(await text());
}
