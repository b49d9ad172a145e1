/** The command of a container, as its spec names it. */
import type { WorkloadPod } from '../workloads/shared/pods.ts';

export type Container = NonNullable<NonNullable<WorkloadPod['spec']>['containers']>[number];

/** Empty for a container that runs the entrypoint of its image. */
export const argvOf = ({ command, args }: Container): readonly string[] => [...(command ?? []), ...(args ?? [])];

/** Most characters that variables add to a value: each may name others several times, and so on. */
const EXPANSION_LIMIT = 64 * 1024;

/** `$(NAME)` stands for a variable, `$$` for a dollar sign. What would be too long stays as it is written. */
export function expanded(value: string, variables: ReadonlyMap<string, string>): string {
  let left = EXPANSION_LIMIT;
  return value.replace(/\$\$|\$\(([^()\s]+)\)/g, (text, name: string | undefined) => {
    if (name === undefined) return '$';
    const found = variables.get(name);
    if (found === undefined || found.length > left) return text;
    left -= found.length;
    return found;
  });
}

/** With the values of variables that it names. */
export const commandOf = (container: Container, variables: ReadonlyMap<string, string>): readonly string[] =>
  argvOf(container).map((word) => expanded(word, variables));
