/** The command of a container, as its spec names it. */
import type { WorkloadPod } from '../shared/pods.ts';
import { isBare } from './images.ts';

export type Container = NonNullable<NonNullable<WorkloadPod['spec']>['containers']>[number];

/** Words that more often name an action of an image's entrypoint than a program: `args: [sync]`. */
const actions = new Set(['date', 'env', 'find', 'ls', 'seq', 'sync', 'tar', 'test', 'wait']);

/** Empty for a container that runs the entrypoint of its image. Where only arguments are given, most images run them as a command. */
export function argvOf({ image, command, args }: Container): readonly string[] {
  const isForEntrypoint = (command?.length ?? 0) === 0 && actions.has(args?.[0] ?? '') && !isBare(image ?? '');
  return isForEntrypoint ? [] : [...(command ?? []), ...(args ?? [])];
}

/** Most characters that variables add to a value: each may name others several times, and so on. */
const EXPANSION_LIMIT = 64 * 1024;

/** `$(NAME)` stands for a variable, `$$` for a dollar sign. What would be too long stays as it is written. */
export function expanded(value: string, variables: ReadonlyMap<string, string>): string {
  let remainingSize = EXPANSION_LIMIT;
  return value.replace(/\$\$|\$\(([^()\s]+)\)/g, (text, name: string | undefined) => {
    if (name === undefined) return '$';
    const variable = variables.get(name);
    if (variable === undefined || variable.length > remainingSize) return text;
    remainingSize -= variable.length;
    return variable;
  });
}

/** With the values of variables that it names. */
export const commandOf = (container: Container, variables: ReadonlyMap<string, string>): readonly string[] =>
  argvOf(container).map((word) => expanded(word, variables));
