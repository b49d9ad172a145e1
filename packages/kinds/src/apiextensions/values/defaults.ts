/**
 * Fills in the defaults of a schema. Every value is a copy, so that no two objects share one. A short body may need many
 * copies of a long default, one for each item of a list: their total is limited.
 */
import { own, setOwn } from '@plat-dev/lib/own';
import { cloneJson } from '@plat-dev/schema/json/plain';
import type { JsonValue } from '@plat-dev/schema/types';
import type { ValueNode, Values } from './node.ts';

/** Limit of characters that the defaults of one object add: that of bodies. */
export const MAX_DEFAULTS = 3 * 1024 * 1024;
/** Minimum count of a default: small ones cost memory and work, too. */
const LEAST = 16;

/**
 * Changes the value in place. A default is filled in before those below it, so that its own parts are completed, too.
 * Returns false if defaults would add more than `MAX_DEFAULTS`; the value is then incomplete.
 */
export function fillDefaults(node: ValueNode, value: unknown): boolean {
  return !node.below.defaults || new Filling().fill(node, value);
}

class Filling {
  private remaining = MAX_DEFAULTS;

  fill(node: ValueNode, value: unknown): boolean {
    if (!node.below.defaults || typeof value !== 'object' || value === null) return true;
    return Array.isArray(value) ? this.fillItems(node.items, value) : this.fillFields(node, value as Values);
  }

  private fillFields(node: ValueNode, value: Values): boolean {
    for (const [name, field] of node.defaults) {
      if (!isUnset(field, own(value, name))) continue;
      if (!this.fits(field.defaultLength + name.length)) return false;
      setOwn(value, name, cloneJson(field.default));
    }
    for (const [name, field] of node.fields) {
      if (!field.below.defaults) continue;
      const inner = own(value, name);
      if (typeof inner === 'object' && inner !== null && !this.fill(field, inner)) return false;
    }
    const { rest } = node;
    if (rest === undefined || rest === 'bare' || !rest.below.defaults) return true;
    for (const key in value) {
      if (node.fields.has(key)) continue;
      if (rest.default !== undefined && isUnset(rest, value[key])) {
        if (!this.fits(rest.defaultLength)) return false;
        value[key] = cloneJson(rest.default);
      }
      if (!this.fill(rest, value[key])) return false;
    }
    return true;
  }

  private fillItems(item: ValueNode | undefined, list: JsonValue[]): boolean {
    if (item === undefined || !item.below.defaults) return true;
    for (let i = 0; i < list.length; i++) {
      if (item.default !== undefined && isUnset(item, list[i])) {
        if (!this.fits(item.defaultLength)) return false;
        list[i] = cloneJson(item.default);
      }
      if (!this.fill(item, list[i])) return false;
    }
    return true;
  }

  private fits(length: number): boolean {
    this.remaining -= Math.max(length, LEAST);
    return this.remaining >= 0;
  }
}

const isUnset = (node: ValueNode, value: unknown): boolean => value === undefined || (value === null && !node.nullable);
