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

/** A switched-off feature: one of a gate, or of a field that stands alone. */
interface Feature {
  createOnly: boolean;
}
/** A field whose gate is off. */
interface GatedField {
  readonly name: string;
  readonly feature: Feature;
  readonly off: string | number | undefined;
  readonly withMessage: boolean;
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
    const { root, cleared } = this.disabled();
    if (root !== undefined) {
      const used = new Set<Feature>();
      collectUsed(root, object as unknown as Fields, used);
      if (used.size > 0 && old !== undefined) dropKept(root, old as unknown as Fields, used);
      if (used.size > 0) clearIn(root, object as unknown as Fields, used);
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
    const features = new Map<string, Feature>();
    const featureOf = (gate: FieldGate, field: string): Feature | undefined => {
      if (this.feature(gate.name)) return undefined;
      const name = gate.alone ? `${gate.name} ${field}` : gate.name;
      const feature = features.get(name) ?? { createOnly: false };
      features.set(name, feature);
      if (gate.createOnly) feature.createOnly = true;
      return feature;
    };
    const root = placeOf(this.schema, '', featureOf);
    return {
      root,
      cleared: this.rules.filter(({ gate, clear }) => clear !== undefined && !this.feature(gate)),
      validated: this.rules.filter(({ gate, clear, validatedAs = true }) => clear === undefined && this.feature(gate) !== validatedAs),
    };
  }
}

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
function placeOf(
  message: MessageType,
  under: string,
  featureOf: (gate: FieldGate, field: string) => Feature | undefined,
): Place | undefined {
  if (!hasGates(message)) return undefined;
  const fields: GatedField[] = [];
  const branches: Branch[] = [];
  for (const field of message.ordered) {
    const gate = gateOf(field);
    if (gate !== undefined && !gate.notIn?.includes(under)) {
      const feature = featureOf(gate, field.name);
      if (feature !== undefined) fields.push({ name: field.name, feature, off: gate.off, withMessage: gate.withMessage === true });
    }
    const next = messageOf(field.type);
    const to = next === undefined ? undefined : placeOf(next.message, field.name, featureOf);
    if (next !== undefined && to !== undefined) branches.push({ name: field.name, many: next.many, to });
  }
  return fields.length === 0 && branches.length === 0 ? undefined : { fields, branches };
}

/** Adds the features that a value uses. */
function collectUsed({ fields, branches }: Place, value: Fields, used: Set<Feature>): void {
  for (const { name, feature, off } of fields) {
    const fieldValue = own(value, name);
    if (fieldValue !== undefined && fieldValue !== off) used.add(feature);
  }
  for (const { name, many, to } of branches) {
    const next = own(value, name);
    if (next === undefined) continue;
    if (many) for (const item of next as Fields[]) collectUsed(to, item, used);
    else collectUsed(to, next as Fields, used);
  }
}

/** Takes away the features that an update keeps: those that the stored object uses, and those that count for new objects alone. */
function dropKept(root: Place, old: Fields, used: Set<Feature>): void {
  const inOld = new Set<Feature>();
  collectUsed(root, old, inOld);
  for (const feature of used) if (feature.createOnly || inOld.has(feature)) used.delete(feature);
}

/** Whether the value itself goes with a field that was cleared. */
function clearIn({ fields, branches }: Place, value: Fields, features: ReadonlySet<Feature>): boolean {
  let goes = false;
  for (const { name, feature, off, withMessage } of fields) {
    if (!features.has(feature) || own(value, name) === undefined) continue;
    if (off === undefined) delete value[name];
    else setOwn(value, name, off);
    if (withMessage) goes = true;
  }
  for (const { name, many, to } of branches) {
    const next = own(value, name);
    if (next === undefined) continue;
    if (many) for (const item of next as Fields[]) clearIn(to, item, features);
    else if (clearIn(to, next as Fields, features)) {
      delete value[name];
      goes = true;
    }
  }
  return goes && Object.keys(value).length === 0;
}
