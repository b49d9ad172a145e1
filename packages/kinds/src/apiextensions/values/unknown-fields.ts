/**
 * Fields of a custom object that its definition does not name, which pruning drops: those of its metadata, then those of the
 * schema, then those of the metadata of objects inside of it, each in the order of their paths.
 */
import type { Work } from '@plat-dev/lib/slices';
import { FieldFaults, fieldPath } from '@plat-dev/schema/fields/field-faults';
import { FieldPlace, unknownFields as unknownFieldsOf } from '@plat-dev/schema/fields/field-place';
import type { JsonValue } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { EmbeddedMeta } from './embedded.ts';
import { fieldNode, isMetaField, isValues, type ValueNode, type Values } from './node.ts';

/** `pruned`: the definition drops unknown fields; otherwise only metadata has any. */
export function* unknownFields(root: ValueNode, pruned: boolean, value: JsonValue, faults: FieldFaults): Work<void> {
  if (!isValues(value)) return;
  if (isValues(value.metadata)) yield* unknownFieldsOf(FieldPlace.at(faults, ['metadata'], ObjectMeta), value.metadata);
  const search = new Search(pruned);
  yield* search.look(root, value, false);
  for (const path of search.paths.sort()) faults.add(`unknown field "${path}"`);
  for (const text of search.metadata.texts.sort()) faults.add(text);
}

/** Limit of paths that are collected and sorted; the rest is not reported. */
const MAX_PATHS = 1_000;
/** Values after which the walk yields; a power of two. */
const VALUES_A_STEP = 256;

class Search {
  readonly paths: string[] = [];
  readonly metadata = new FieldFaults();
  private readonly pruned: boolean;
  private readonly steps: (string | number)[] = [];
  private values = 0;

  constructor(pruned: boolean) {
    this.pruned = pruned;
  }

  /** The same walk as that of `prune.ts`. `keepsUnknown`: the value is an item of a list whose unknown fields are kept. */
  *look(node: ValueNode | 'bare' | undefined, value: object, keepsUnknown: boolean): Work<void> {
    const valueNode = node === 'bare' ? undefined : node;
    const keeps = keepsUnknown || valueNode?.keeps === true;
    if (!Array.isArray(value)) return yield* this.fields(valueNode, value as Values, keeps);
    if (valueNode?.items === undefined && keeps) return;
    for (let i = 0; i < value.length; i++) yield* this.below(i, valueNode?.items, value[i], keeps);
  }

  private *fields(node: ValueNode | undefined, value: Values, keeps: boolean): Work<void> {
    for (const key of Object.keys(value)) {
      const inner = value[key] as JsonValue;
      if (node?.resource !== undefined && isMetaField(key)) {
        if (node.resource === 'inside' && key === 'metadata') yield* this.embedded(inner);
        continue;
      }
      const field = node === undefined ? undefined : fieldNode(node, key);
      if (field !== undefined) yield* this.below(key, field, inner, false);
      else if (!keeps && this.pruned && this.paths.length < MAX_PATHS) this.paths.push(fieldPath(this.steps, key));
    }
  }

  private *below(step: string | number, node: ValueNode | 'bare' | undefined, value: unknown, keepsUnknown: boolean): Work<void> {
    if ((++this.values & (VALUES_A_STEP - 1)) === 0) yield;
    if (typeof value !== 'object' || value === null) return;
    this.steps.push(step);
    yield* this.look(node, value, keepsUnknown);
    this.steps.pop();
  }

  private *embedded(value: JsonValue): Work<void> {
    if (!isValues(value)) return;
    yield* unknownFieldsOf(FieldPlace.at(this.metadata, [...this.steps, 'metadata'], EmbeddedMeta), value);
  }
}
