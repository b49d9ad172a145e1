/** Changes of environment variables on a command line: `KEY=value` sets, `KEY-` removes, `-` reads more from the standard input. */
import { FlagError } from '@plat-dev/lib/flags';
import { environmentVariableName } from '@plat-dev/meta/names';
import type { JsonObject } from '@plat-dev/schema/types';

export interface Variable extends JsonObject {
  name: string;
}
export interface EnvChanges {
  readonly set: readonly Variable[];
  readonly remove: readonly string[];
}

/** Objects come before changes. Throws FlagError. */
export function splitArguments(all: readonly string[]): { args: readonly string[]; changes: readonly string[] } {
  const isChange = (word: string): boolean => /^[^=/]+=/.test(word) || word.endsWith('-');
  const first = all.findIndex(isChange);
  if (first === -1) return { args: all, changes: [] };
  const changes = all.slice(first);
  const other = changes.find((word) => !isChange(word));
  if (other !== undefined) throw new FlagError(`${JSON.stringify(other)} is neither KEY=value nor KEY-; objects come before them`);
  return { args: all.slice(0, first), changes };
}

const plainVariable = (name: string, value: string): Variable => ({ name, ...(value !== '' && { value }) });

/** `stdin`: what a `-` stands for, lines of KEY=value in which # begins a comment. Throws FlagError. */
export async function readChanges(words: readonly string[], stdin: () => Promise<string>): Promise<EnvChanges> {
  const set: Variable[] = [];
  const remove: string[] = [];
  for (const word of words) {
    const at = word.indexOf('=');
    if (word === '-') set.push(...variablesOf(await stdin()));
    else if (at > 0) set.push(plainVariable(checkedName(word.slice(0, at)), word.slice(at + 1)));
    else if (word.endsWith('-') && word.length > 1) remove.push(word.slice(0, -1));
    else throw new FlagError(`${JSON.stringify(word)} is neither KEY=value nor KEY-`);
  }
  const both = set.find(({ name }) => remove.includes(name));
  if (both !== undefined) throw new FlagError(`${both.name} cannot be set and removed at once`);
  return { set, remove };
}
function checkedName(name: string): string {
  const [complaint] = environmentVariableName(name);
  if (complaint !== undefined) throw new FlagError(`${JSON.stringify(name)} cannot be a variable: ${complaint}`);
  return name;
}
function variablesOf(text: string): Variable[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [content = ''] = line.split('#');
    const at = content.indexOf('=');
    return at === -1 ? [] : [plainVariable(content.slice(0, at), content.slice(at + 1))];
  });
}

/** The variables of a container after the changes: those that exist keep their places, others follow. */
export function changedVariables(currentVariables: readonly Variable[], { set, remove }: EnvChanges): Variable[] {
  const pending = new Map(set.map((variable) => [variable.name, variable]));
  // Of several values of one command line the first counts.
  for (const variable of [...set].reverse()) pending.set(variable.name, variable);
  const removedNames = new Set(remove);
  const after: Variable[] = [];
  const covered = new Set<string>();
  for (const variable of currentVariables) {
    if (removedNames.has(variable.name) || covered.has(variable.name)) continue;
    const newer = pending.get(variable.name);
    if (newer !== undefined) covered.add(variable.name);
    after.push(newer ?? variable);
  }
  for (const [name, variable] of pending) if (!covered.has(name) && !removedNames.has(name)) after.push(variable);
  return after;
}

/** Throws an Error for a variable that has another value. */
export function checkNoOverwrite(currentVariables: readonly Variable[], { set }: EnvChanges): void {
  for (const { name, value } of set) {
    const existing = currentVariables.find((variable) => variable.name === name);
    if (existing !== undefined && (existing.value ?? '') !== (value ?? '')) {
      throw new Error(`'${name}' already has a value (${existing.value ?? ''}), and --overwrite is false`);
    }
  }
}
