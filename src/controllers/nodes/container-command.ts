/** The command of a container, as its spec names it. */
import type { WorkloadPod } from '../workloads/shared/pods.ts';

export type Container = NonNullable<NonNullable<WorkloadPod['spec']>['containers']>[number];

/** Empty for a container that runs the entrypoint of its image. */
export const argvOf = ({ command, args }: Container): readonly string[] => [...(command ?? []), ...(args ?? [])];

/** `$(NAME)` stands for a variable, `$$` for a dollar sign. */
export const expanded = (value: string, variables: ReadonlyMap<string, string>): string =>
  value.replace(/\$\$|\$\(([^()\s]+)\)/g, (text, name: string | undefined) => (name === undefined ? '$' : (variables.get(name) ?? text)));

/** With the values of variables that it names. */
export const commandOf = (container: Container, variables: ReadonlyMap<string, string>): readonly string[] =>
  argvOf(container).map((word) => expanded(word, variables));
