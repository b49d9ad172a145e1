/** Expressions whose names and calls are resolved, and whose types are known. */
import type { Macro } from './ast.ts';
import type { Overload } from './functions/signature.ts';
import type { CelType, ObjectType } from './types.ts';

interface Typed {
  readonly type: CelType;
}
type CheckedConstant = Typed & { readonly op: 'constant'; readonly value: unknown };
type CheckedVariable = Typed & { readonly op: 'variable'; readonly name: string };
type CheckedLocal = Typed & { readonly op: 'local'; readonly slot: number };
/** A property of an object, an entry of a map, or what a value that is known at run time only has. */
export type CheckedField = Typed & { readonly op: 'field' | 'has' | 'optionalField'; readonly operand: Checked; readonly property: string };
export type CheckedCall = Typed & {
  readonly op: 'call';
  readonly name: string;
  readonly overloads: readonly Overload[];
  readonly args: readonly Checked[];
};
export type CheckedLogic = Typed & { readonly op: 'logic'; readonly operator: '&&' | '||'; readonly terms: readonly Checked[] };
export type CheckedConditional = Typed & {
  readonly op: 'conditional';
  readonly condition: Checked;
  readonly then: Checked;
  readonly otherwise: Checked;
};
export interface CheckedItem {
  readonly value: Checked;
  readonly optional: boolean;
}
export type CheckedList = Typed & { readonly op: 'list'; readonly items: readonly CheckedItem[] };
export type CheckedMap = Typed & { readonly op: 'map'; readonly entries: readonly (CheckedItem & { readonly key: Checked })[] };
/** An object that is made by the name of its type. */
export type CheckedObject = Typed & {
  readonly op: 'object';
  readonly type: ObjectType;
  readonly fields: readonly (CheckedItem & { readonly name: string })[];
};
export type CheckedComprehension = Typed & {
  readonly op: 'comprehension';
  readonly macro: Macro;
  readonly range: Checked;
  readonly slot: number;
  readonly variable: CelType;
  readonly secondSlot: number | undefined;
  readonly second: CelType;
  readonly body: Checked;
  readonly filter: Checked | undefined;
};
export type CheckedBind = Typed & {
  readonly op: 'bind';
  readonly macro: 'bind' | 'optMap' | 'optFlatMap';
  readonly slot: number;
  readonly value: Checked;
  readonly body: Checked;
};
export type Checked =
  | CheckedConstant
  | CheckedVariable
  | CheckedLocal
  | CheckedField
  | CheckedCall
  | CheckedLogic
  | CheckedConditional
  | CheckedList
  | CheckedMap
  | CheckedObject
  | CheckedComprehension
  | CheckedBind;
