/** Causes of the state of an object, the objects that have them, and the command to type next. */
import type { ApiObject } from '@plat-dev/kinds/kind';
import { cut } from '@plat-dev/lib/message-values';
import type { Resource } from '../registry/catalog.ts';
import type { Target } from './callers-view.ts';
import type { Reason } from './reasons.ts';

export interface ExplainedObject {
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export interface Cause {
  /** One word, for programs. */
  readonly reason: Reason;
  readonly message: string;
  readonly object?: ExplainedObject;
  /** Objects between the one that was asked about and the one that has the cause. */
  readonly path?: readonly ExplainedObject[];
  /** Arguments of the command to type next. */
  readonly command?: string;
}

/** Causes of one answer. */
export const MOST_CAUSES = 100;
/** Whether there are more causes than the answer names: no others are looked for. */
export const isEnough = ({ length }: readonly Cause[]): boolean => length > MOST_CAUSES;
/** Characters of a message: others may say as much as fits into an object. */
const MOST_CHARACTERS = 4096;

export function explained({ resource, object }: Target): ExplainedObject {
  return explainedName(resource, object.metadata.namespace ?? '', object.metadata.name ?? '');
}
export function explainedName({ group, kind }: Resource, namespace: string, name: string): ExplainedObject {
  return { group, resource: kind.plural, kind: kind.kind, namespace: kind.namespaced ? namespace : '', name };
}

/** A cause that the object itself has. */
export const causeOf = (target: Target, reason: Reason, message: string, command = commandOn('describe', target)): Cause => ({
  reason,
  message: cut(message, MOST_CHARACTERS),
  object: explained(target),
  command,
});

/** The same causes, found below another object. */
export const below = (object: ExplainedObject, causes: readonly Cause[]): Cause[] =>
  causes.map((cause) => ({ ...cause, path: [object, ...(cause.path ?? [])] }));

/** `pods/web`; the group is named where kinds of other groups may have the name. */
export const typeAndName = ({ resource, name }: Pick<ExplainedObject, 'resource' | 'name'>): string => `${resource}/${name}`;

/** `why not deleted configmaps/settings -n team`: the name of a custom kind is given with its group. */
export function commandFor(verb: string, object: ExplainedObject, isCustom = false, flags = ''): string {
  const type = isCustom ? `${object.resource}.${object.group}` : object.resource;
  const namespace = object.namespace === '' ? '' : ` -n ${quoted(object.namespace)}`;
  return `${verb} ${quoted(`${type}/${object.name}`)}${namespace}${flags === '' ? '' : ` ${flags}`}`;
}
export const commandOn = (verb: string, target: Target, flags = ''): string =>
  commandFor(verb, explained(target), target.resource.custom, flags);

/** A word of a command line, as a shell reads it. */
export const quoted = (word: string): string => (/^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** `a, b, c and 4 others`. */
export function someNames(objects: readonly ApiObject[], most = 3): string {
  const names = objects.slice(0, most).map(({ metadata }) => metadata.name ?? '');
  const others = objects.length - names.length;
  return others === 0 ? names.join(', ') : `${names.join(', ')} and ${others} other${others === 1 ? '' : 's'}`;
}

/** What others say as the end of a sentence: it has one full stop. */
export function sentence(text: string): string {
  let end = text.length;
  while (end > 0 && /[.:\s]/.test(text[end - 1] as string)) end--;
  return `${text.slice(0, end)}.`;
}

/** `1 pod`, `3 pods`: resources are counted by the names of their kinds. */
export const counted = (count: number, { kind }: Resource): string =>
  count === 1 ? `1 ${kind.kind.toLowerCase()}` : `${count} ${kind.plural}`;
