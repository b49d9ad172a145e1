/** Which verbs rules allow on which kinds. */
import type { Kind } from '../../api/kinds.ts';
import { lacksOf, type PolicyRule } from './rbac.ts';

/** `some`: objects of certain names. `absent`: the kind does not have the verb. */
export type Cell = 'yes' | 'some' | 'no' | 'absent';

export const matrixVerbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const;

export function cellOf(rules: readonly PolicyRule[], kind: Kind, verb: string): Cell {
  if (!kind.verbs.includes(verb)) return 'absent';
  const { group, resource } = kind;
  let isSome = false;
  for (const rule of rules) {
    const lacks = lacksOf(rule, { verb, group, resource, subresource: '', namespace: '', name: '' });
    if (lacks.length === 0) return 'yes';
    isSome ||= lacks.length === 1 && lacks[0] === 'resourceName';
  }
  return isSome ? 'some' : 'no';
}

export interface MatrixRow {
  readonly kind: Kind;
  readonly cells: readonly Cell[];
}

/** Kinds whose name contains the text; objects of the whole cluster are left out within a namespace. */
export function matrixRows(rules: readonly PolicyRule[], kinds: readonly Kind[], text: string, namespace: string | undefined): MatrixRow[] {
  const wanted = text.toLowerCase();
  return kinds
    .filter(({ isNamespaced }) => isNamespaced || namespace === undefined)
    .filter(({ resource, group, kind }) => `${resource}.${group} ${kind}`.toLowerCase().includes(wanted))
    .map((kind) => ({ kind, cells: matrixVerbs.map((verb) => cellOf(rules, kind, verb)) }));
}
