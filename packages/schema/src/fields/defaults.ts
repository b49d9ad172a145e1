/** Static defaults: those of the schema. */
import { own, setOwn } from '@plat-dev/lib/own';
import { cloneJson } from '../json/plain.ts';
import { type MessageType, type NamedField, resolve, type Type } from '../types.ts';
import { zeroValue } from './zero-values.ts';

type Values = Record<string, unknown>;
/** Fills in missing fields, in place. */
type Filler = (value: unknown) => void;

/** Fills in the schema's defaults, in place. Only present messages are walked; none is created to hold a default. */
export function applyDefaults(type: Type, object: unknown): void {
  fillerOf(type)?.(object);
}

const fillers = new WeakMap<Type, Filler | null>();

function fillerOf(type: Type): Filler | undefined {
  let filler = fillers.get(type);
  if (filler === undefined) {
    filler = hasDefaults(type, new Set()) ? compile(type) : null;
    fillers.set(type, filler);
  }
  return filler ?? undefined;
}

/** Whether the type has a default at any depth; most types have none and are never walked. */
function hasDefaults(type: Type, visited: Set<Type>): boolean {
  const resolved = resolve(type);
  if (visited.has(resolved)) return false;
  visited.add(resolved);
  switch (resolved.node) {
    case 'scalar':
      return false;
    case 'list':
      return hasDefaults(resolved.item, visited);
    case 'map':
      return hasDefaults(resolved.value, visited);
    case 'union':
      return hasDefaults(resolved.object.type, visited) || hasDefaults(resolved.other.type, visited);
    case 'message':
      return resolved.ordered.some((field) => field.default !== undefined || hasDefaults(field.type, visited));
  }
}

function compile(type: Type): Filler {
  const resolved = resolve(type);
  switch (resolved.node) {
    case 'list': {
      const { item } = resolved;
      return (value) => {
        const fill = fillerOf(item);
        if (fill !== undefined) for (const member of value as unknown[]) fill(member);
      };
    }
    case 'map': {
      const item = resolved.value;
      return (value) => {
        const fill = fillerOf(item);
        if (fill !== undefined) for (const key of Object.keys(value as Values)) fill((value as Values)[key]);
      };
    }
    case 'union': {
      const { object, other } = resolved;
      return (value) => fillerOf(typeof value === 'object' && !Array.isArray(value) ? object.type : other.type)?.(value);
    }
    case 'message':
      return messageFiller(resolved);
    case 'scalar':
      return () => {};
  }
}

interface FieldPlan {
  readonly name: string;
  readonly default: unknown;
  /** A value that counts as absent: the zero of an `always` scalar. */
  readonly zero: unknown;
  readonly fill: Filler | undefined;
}

function messageFiller(type: MessageType): Filler {
  let plans: FieldPlan[] | undefined;
  return (value) => {
    if (typeof value !== 'object' || value === null) return;
    // Fields are planned on first use, so that a schema may contain itself.
    plans ??= type.ordered.map(planField).filter((plan) => plan.default !== undefined || plan.fill !== undefined);
    const object = value as Values;
    for (const plan of plans) {
      const fieldValue = own(object, plan.name);
      if (plan.default !== undefined && (fieldValue === undefined || fieldValue === null || fieldValue === plan.zero)) {
        setOwn(object, plan.name, cloneJson(plan.default));
      } else if (plan.fill !== undefined && fieldValue !== undefined && fieldValue !== null) {
        plan.fill(fieldValue);
      }
    }
  };
}

function planField(field: NamedField): FieldPlan {
  const scalar = resolve(field.type).node === 'scalar';
  return {
    name: field.name,
    default: field.default,
    zero: scalar && field.nullable !== true ? zeroValue(field.type) : undefined,
    fill: fillerOf(field.type),
  };
}
