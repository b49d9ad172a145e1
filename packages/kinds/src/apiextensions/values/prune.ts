/**
 * Prunes fields that a structural schema does not name, and nulls that are not allowed and have no default.
 * Objects are changed in place, and only where there is something to drop.
 */
import { cloneJson } from '@plat-dev/schema/json/plain';
import type { JsonValue } from '@plat-dev/schema/types';
import { fieldNode, isMetaField, type ValueNode, type Values } from './node.ts';

export type Report = (path: string) => void;

export function prune(node: ValueNode, value: unknown, nulls: 'drop' | 'keep', report?: Report): void {
  new Pruner(nulls === 'drop', report).prune(node, value, false);
}

class Pruner {
  private readonly dropsNulls: boolean;
  private readonly report: Report | undefined;
  /** The current path, tracked only if dropped fields are reported. */
  private readonly steps: (string | number)[] = [];

  constructor(dropsNulls: boolean, report: Report | undefined) {
    this.dropsNulls = dropsNulls;
    this.report = report;
  }

  /** `keepsUnknown`: the value is an item of a list whose unknown fields are kept. */
  prune(node: ValueNode | 'bare' | undefined, value: unknown, keepsUnknown: boolean): void {
    if (typeof value !== 'object' || value === null) return;
    const valueNode = node === 'bare' ? undefined : node;
    const keeps = keepsUnknown || valueNode?.keeps === true;
    if (Array.isArray(value)) {
      if (valueNode?.items === undefined && keeps) return;
      for (let i = 0; i < value.length; i++) this.below(i, valueNode?.items, value[i], keeps);
    } else this.fields(valueNode, value as Values, keeps);
  }

  private fields(node: ValueNode | undefined, value: Values, keeps: boolean): void {
    for (const key in value) {
      if (node?.resource !== undefined && isMetaField(key)) continue;
      const field = node === undefined ? undefined : fieldNode(node, key);
      if (field === undefined) {
        if (!keeps) this.drop(value, key);
      } else if (value[key] === null && this.dropsNulls && isNoNull(field)) delete value[key];
      else this.below(key, field, value[key], false);
    }
  }

  private below(step: string | number, node: ValueNode | 'bare' | undefined, value: unknown, keepsUnknown: boolean): void {
    if (typeof value !== 'object' || value === null) return;
    if (this.report !== undefined) this.steps.push(step);
    this.prune(node, value, keepsUnknown);
    if (this.report !== undefined) this.steps.pop();
  }

  private drop(value: Values, key: string): void {
    delete value[key];
    this.report?.(pathOf([...this.steps, key]));
  }
}

/** Whether a null is not allowed, and there is no default for it. */
function isNoNull(field: ValueNode | 'bare'): boolean {
  return field !== 'bare' && !field.nullable && field.default === undefined;
}

function pathOf(steps: readonly (string | number)[]): string {
  let path = '';
  for (const step of steps) path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`;
  return path;
}

/** Whether a value has fields that the schema does not name. */
export function hasUnknownFields(node: ValueNode, value: JsonValue): boolean {
  let hasUnknown = false;
  prune(node, cloneJson(value), 'keep', () => {
    hasUnknown = true;
  });
  return hasUnknown;
}
