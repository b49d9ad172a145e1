/**
 * Fields and values that feature gates guard. A field of a schema names its gate where it is declared; a kind has rules for
 * annotations and single values, which have no field of their own.
 *
 *   minDomains: ptr(5, int32, { gate: 'MinDomainsInPodTopologySpread' })
 *
 * While that gate is off on a server:
 *
 *   create { minDomains: 2 }                              → { }
 *   update { }                  with { minDomains: 2 }    → { }
 *   update { minDomains: 2 }    with { minDomains: 3 }    → { minDomains: 3 }      the stored object uses the feature already
 *
 * One walk over the new object looks for fields of switched-off gates; without any, nothing else is done. Objects within objects
 * (claim templates of a stateful set) are not cleared: that happens when they are created.
 */
import { own, setOwn } from '@plat-dev/lib/own';
import type { Identity } from '@plat-dev/meta/identity';
import { type FieldGate, type MessageType, resolve, type Type } from '@plat-dev/schema/types';
import type { ApiObject, GateRule, KindEnv } from './kind.ts';

type Fields = Record<string, unknown>;

/** A field whose gate is off. */
interface GatedField {
  readonly name: string;
  /** The feature, as one bit. */
  readonly bit: number;
  readonly off: string | number | undefined;
}
/** A field that leads to gated ones. */
interface Branch {
  readonly name: string;
  readonly many: boolean;
  readonly to: Place;
}
interface Place {
  readonly fields: readonly GatedField[];
  readonly branches: readonly Branch[];
}

/** The switched-off fields and rules of one kind on a server. */
interface Disabled {
  readonly root: Place | undefined;
  /** Bits of fields that updates keep. */
  readonly createOnly: number;
  readonly cleared: readonly GateRule<ApiObject>[];
  readonly validated: readonly GateRule<ApiObject>[];
}

export class GatedFields {
  private readonly schema: MessageType;
  private readonly rules: readonly GateRule<ApiObject>[];
  private readonly identity: Identity;
  private readonly feature: (gate: string) => boolean;
  /** Computed with the first write. */
  private disabledFields: Disabled | undefined;

  constructor(schema: MessageType, rules: readonly GateRule[] | undefined, identity: Identity, feature: (gate: string) => boolean) {
    this.schema = schema;
    this.rules = (rules ?? []) as unknown as readonly GateRule<ApiObject>[];
    this.identity = identity;
    this.feature = feature;
  }

  /** Clears the fields of switched-off features in place, unless the stored object uses them. `object` is in the hub version. */
  clear(object: ApiObject, old: ApiObject | undefined): void {
    const { root, createOnly, cleared } = this.disabled();
    if (root !== undefined) {
      const used = usedIn(root, object as unknown as Fields);
      if (used !== 0) {
        const usedGates = old === undefined ? 0 : createOnly | usedIn(root, old as unknown as Fields);
        if ((used & ~usedGates) !== 0) clearIn(root, object as unknown as Fields, used & ~usedGates);
      }
    }
    for (const rule of cleared)
      if (rule.uses(object, this.identity) && (old === undefined || !rule.uses(old, this.identity))) rule.clear?.(object, this.identity);
  }

  /** The features by which an update is validated: those that the stored object uses stay allowed. */
  envFor(object: ApiObject, old: ApiObject, env: KindEnv): KindEnv {
    const { validated } = this.disabled();
    let used: GateRule<ApiObject>[] | undefined;
    for (const rule of validated) {
      if (!rule.uses(old, this.identity, object)) continue;
      used ??= [];
      used.push(rule);
    }
    if (used === undefined) return env;
    const asUsed = new Map(used.map(({ gate, validatedAs = true }) => [gate, validatedAs]));
    return { ...env, feature: (name) => asUsed.get(name) ?? env.feature(name) };
  }

  private disabled(): Disabled {
    this.disabledFields ??= this.findDisabled();
    return this.disabledFields;
  }
  private findDisabled(): Disabled {
    const features = new Map<string, number>();
    let createOnly = 0;
    const bitOf = (gate: FieldGate, field: string): number => {
      if (this.feature(gate.name)) return 0;
      const feature = gate.alone ? `${gate.name} ${field}` : gate.name;
      const bit = features.get(feature) ?? 1 << features.size;
      if (features.size >= MAX_FEATURES) throw new Error(`${this.schema.name} has fields of more than ${MAX_FEATURES} feature gates`);
      features.set(feature, bit);
      if (gate.createOnly) createOnly |= bit;
      return bit;
    };
    const root = placeOf(this.schema, '', bitOf);
    return {
      root,
      createOnly,
      cleared: this.rules.filter(({ gate, clear }) => clear !== undefined && !this.feature(gate)),
      validated: this.rules.filter(({ gate, clear, validatedAs = true }) => clear === undefined && this.feature(gate) !== validatedAs),
    };
  }
}

/** Features of one kind have a bit each in a number. */
const MAX_FEATURES = 30;

/** The gate of a field, where it has one. */
export const gateOf = ({ gate }: { readonly gate?: string | FieldGate }): FieldGate | undefined =>
  typeof gate === 'string' ? { name: gate } : gate;

/** The message type of a field, to search for gated fields. Recursive types have none (tested). */
function messageOf(type: Type): { readonly message: MessageType; readonly many: boolean } | undefined {
  if (type.node === 'lazy') return undefined;
  const many = type.node === 'list';
  const inner = many ? type.item : type;
  if (inner.node === 'lazy') return undefined;
  const message = resolve(inner);
  return message.node === 'message' && !message.object ? { message, many } : undefined;
}

const gatesIn = new WeakMap<MessageType, boolean>();
/** Whether a message has gated fields, itself or further down. */
export function hasGates(message: MessageType): boolean {
  const cachedAnswer = gatesIn.get(message);
  if (cachedAnswer !== undefined) return cachedAnswer;
  const isGated = message.ordered.some((field) => {
    if (field.gate !== undefined) return true;
    const next = messageOf(field.type);
    return next !== undefined && hasGates(next.message);
  });
  gatesIn.set(message, isGated);
  return isGated;
}

/** Undefined if the message, the type of the field `under`, has no field of a switched-off gate. */
function placeOf(message: MessageType, under: string, bitOf: (gate: FieldGate, field: string) => number): Place | undefined {
  if (!hasGates(message)) return undefined;
  const fields: GatedField[] = [];
  const branches: Branch[] = [];
  for (const field of message.ordered) {
    const gate = gateOf(field);
    if (gate !== undefined && !gate.notIn?.includes(under)) {
      const bit = bitOf(gate, field.name);
      if (bit !== 0) fields.push({ name: field.name, bit, off: gate.off });
    }
    const next = messageOf(field.type);
    const to = next === undefined ? undefined : placeOf(next.message, field.name, bitOf);
    if (next !== undefined && to !== undefined) branches.push({ name: field.name, many: next.many, to });
  }
  return fields.length === 0 && branches.length === 0 ? undefined : { fields, branches };
}

/** The features, as bits, that a value uses. */
function usedIn({ fields, branches }: Place, value: Fields): number {
  let used = 0;
  for (const { name, bit, off } of fields) {
    const fieldValue = own(value, name);
    if (fieldValue !== undefined && fieldValue !== off) used |= bit;
  }
  for (const { name, many, to } of branches) {
    const next = own(value, name);
    if (next === undefined) continue;
    if (many) for (const item of next as Fields[]) used |= usedIn(to, item);
    else used |= usedIn(to, next as Fields);
  }
  return used;
}

function clearIn({ fields, branches }: Place, value: Fields, features: number): void {
  for (const { name, bit, off } of fields) {
    if ((bit & features) === 0 || own(value, name) === undefined) continue;
    if (off === undefined) delete value[name];
    else setOwn(value, name, off);
  }
  for (const { name, many, to } of branches) {
    const next = own(value, name);
    if (next === undefined) continue;
    if (many) for (const item of next as Fields[]) clearIn(to, item, features);
    else clearIn(to, next as Fields, features);
  }
}
