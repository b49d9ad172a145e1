/**
 * Whole numbers that are floats by their spelling: with a fraction or an exponent, as `1.0` and `1e3`, or integers of more than 64
 * bits. In a stock server an integer field accepts none of these, and a JSON patch compares spellings.
 *
 *   checkIntegerFields(Deployment, '{"spec":{"replicas":1.0}}')   → throws: cannot unmarshal number 1.0 into … of type int32
 *
 * Only text that holds such numbers (`holdsFloats` of parse.ts) is read again here.
 */
import { integerOf, isInteger as isInt64 } from '@plat-dev/lib/integers';
import type { Work } from '@plat-dev/lib/slices';
import type { DecodeError } from '../errors.ts';
import { resolve, type Type } from '../types.ts';
import { Mismatch, typeText } from './mismatch.ts';

/** The value at a step below another one; undefined if it is unknown. */
export type Below<T> = (at: T, step: string | number) => T | undefined;

/** A number with its spelling, and the steps that lead to it. */
export type Visit<T> = (at: T, spelling: string, steps: readonly (string | number)[]) => void;

const WHOLE = /^-?\d+$/;
const isFloat = (spelling: string): boolean => !WHOLE.test(spelling) || !isInt64(integerOf(spelling));

/** Tokens after which the visit yields. */
const SIGNS_A_STEP = 4096;

/** Visits the floats of valid JSON text, at places whose type is known. */
export function* visitFloats<T>(text: string, root: T, below: Below<T>, visit: Visit<T>): Work<void> {
  const steps: (string | number)[] = [];
  /** The known types of the containers around this place, and of the place itself. */
  const around: (T | undefined)[] = [];
  let here: T | undefined = root;
  let key: string | undefined;
  const step = (next: string | number): void => {
    steps[steps.length - 1] = next;
    const parent = around[around.length - 1];
    here = parent === undefined ? undefined : below(parent, next);
  };
  let signs = 0;
  for (let at = 0; at < text.length; at++) {
    if (++signs % SIGNS_A_STEP === 0) yield;
    const char = text[at] as string;
    if (char === '"') {
      const start = at;
      for (at++; text[at] !== '"'; at++) if (text[at] === '\\') at++;
      key = text.slice(start, at + 1);
    } else if (char === ':') step(JSON.parse(key as string) as string);
    else if (char === '{' || char === '[') {
      around.push(here);
      steps.push('');
      if (char === '[') step(0);
    } else if (char === '}' || char === ']') {
      here = around.pop();
      steps.pop();
    } else if (char === ',') {
      const last = steps[steps.length - 1];
      if (typeof last === 'number') step(last + 1);
    } else if (char === '-' || (char >= '0' && char <= '9')) {
      const start = at;
      while (isNumeral(text.charCodeAt(at + 1))) at++;
      const spelling = text.slice(start, at + 1);
      if (here !== undefined && isFloat(spelling)) visit(here, spelling, steps);
    }
  }
}
/** Digits, signs, a point, an exponent. */
function isNumeral(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2b || code === 0x2e || code === 0x65 || code === 0x45;
}

/** The type of the value at a step below a value of a type. */
export function typeBelow(type: Type, step: string | number): Type | undefined {
  let at = resolve(type);
  if (at.node === 'union') at = resolve(typeof step === 'string' ? at.object.type : at.other.type);
  if (at.node === 'list') return isIndex(step) ? at.item : undefined;
  if (at.node === 'map') return at.value;
  return at.node === 'message' ? at.ordered.find(({ name }) => name === step)?.type : undefined;
}
const isIndex = (step: string | number): boolean => typeof step === 'number' || /^(-|[+-]?\d{1,9})$/.test(step);

export function isInteger(type: Type): boolean {
  const { node, ...scalar } = resolve(type);
  const name = node === 'scalar' ? (scalar as { name: string }).name : '';
  return name === 'int32' || name === 'int64' || name === 'intOrString';
}
/** The error for a number in an integer field; `steps` is its path from the root. */
export function floatFault(root: Type, type: Type, spelling: string, steps: readonly (string | number)[]): DecodeError {
  const shortSpelling = spelling.length > 64 ? `${spelling.slice(0, 64)}...` : spelling;
  const fault = new Mismatch(`number ${shortSpelling}`, typeText(type));
  const types: Type[] = [root];
  for (const step of steps) types.push(typeBelow(types[types.length - 1] as Type, step) as Type);
  for (let i = steps.length - 1; i >= 0; i--) {
    const holder = resolve(types[i] as Type);
    const step = steps[i] as string | number;
    if (holder.node === 'message') fault.inField(holder.name, String(step));
    else if (typeof step === 'number') fault.path.push(step);
    else fault.within(step);
  }
  return fault.toError();
}

/** Refuses JSON text of a value in which a field for integers has a float. Throws DecodeError. */
export function checkIntegerFields(root: Type, text: string): Work<void> {
  return visitFloats(text, root, typeBelow, (type, spelling, steps) => {
    if (isInteger(type)) throw floatFault(root, type, spelling, steps);
  });
}
