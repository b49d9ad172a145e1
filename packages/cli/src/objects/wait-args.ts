/** The conditions of `plat wait --for`. */
import { jsonText } from '@plat-dev/lib/json-text';
import { jsonPath } from '@plat-dev/meta/json-path';
import type { ApiItem } from '../output/print-objects.ts';

export interface Goal {
  readonly kind: 'delete' | 'create' | 'state';
  /** What is waited for, for the timeout error. */
  readonly expectation: string;
  /** Printed when the condition is met. */
  readonly reached: string;
  met(object: ApiItem | undefined): boolean;
  /** Why an object does not meet the condition, for the timeout error. */
  distance(object: ApiItem): string;
}

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

/** `delete`, `create`, `condition=Ready`, `condition=Ready=False`, `jsonpath={.status.phase}=Running`. Throws an Error. */
export function readGoal(text: string): Goal {
  if (text === 'delete')
    return {
      kind: 'delete',
      expectation: 'the deletion',
      reached: 'deleted',
      met: (object) => object === undefined,
      distance: finalizersOf,
    };
  if (text === 'create')
    return {
      kind: 'create',
      expectation: 'the creation',
      reached: 'created',
      met: (object) => object !== undefined,
      distance: () => 'the object does not exist',
    };
  const condition = /^condition=([^=]+)(?:=(.+))?$/i.exec(text);
  if (condition !== null) return conditionGoal(condition[1] as string, condition[2] ?? 'True');
  if (text.startsWith('jsonpath=')) return pathGoal(text.slice('jsonpath='.length));
  throw new Error(`${JSON.stringify(text)} is none of delete, create, condition=NAME[=VALUE], jsonpath={.path}[=VALUE]`);
}

function conditionGoal(type: string, value: string): Goal {
  const same = (a: string | undefined, b: string): boolean => a?.toLowerCase() === b.toLowerCase();
  const find = (object: ApiItem | undefined): Condition | undefined => conditionsOf(object).find((c) => same(c.type, type));
  return {
    kind: 'state',
    expectation: `condition ${type}`,
    reached: 'condition met',
    met: (object) => {
      const condition = find(object);
      return same(condition?.status, value) && !isStale(condition, object);
    },
    distance: (object) => {
      const condition = find(object);
      if (condition === undefined) {
        const types = conditionsOf(object).map((c) => c.type);
        return types.length > 0 ? `the object has only ${types.join(', ')}` : 'the object has no conditions';
      }
      if (isStale(condition, object)) return 'it is of an older generation';
      const why = [condition.reason, condition.message].filter((t) => t !== undefined && t !== '').join(': ');
      return `it is ${condition.status}${why === '' ? '' : ` (${why})`}`;
    },
  };
}
/** A condition of an older generation does not count. */
function isStale(condition: Condition | undefined, object: ApiItem | undefined): boolean {
  const { generation } = (object?.metadata ?? {}) as { generation?: number };
  return condition?.observedGeneration !== undefined && generation !== undefined && condition.observedGeneration < generation;
}
function conditionsOf(object: ApiItem | undefined): readonly Condition[] {
  const conditions = (object as { status?: { conditions?: unknown } } | undefined)?.status?.conditions;
  return Array.isArray(conditions) ? conditions : [];
}
function finalizersOf(object: ApiItem): string {
  const { finalizers = [], deletionTimestamp } = (object.metadata ?? {}) as { finalizers?: string[]; deletionTimestamp?: string };
  if (deletionTimestamp === undefined) return 'the object was not deleted';
  return finalizers.length > 0 ? `the object has finalizers ${finalizers.join(', ')}` : 'the object is terminating';
}

function pathGoal(text: string): Goal {
  const parts = /^\{(.*)\}(?:=(.*))?$/s.exec(text) ?? /^([^={}]+)(?:=(.*))?$/s.exec(text);
  if (parts === null) throw new Error(`${JSON.stringify(text)} is not of the form {.path}=VALUE`);
  const [, path = '', value] = parts;
  const follow = jsonPath(path.startsWith('.') || path.startsWith('[') || path.startsWith('$') ? path : `.${path}`);
  const values = (object: ApiItem | undefined): string[] =>
    follow(object).map((value) => (typeof value === 'string' ? value : jsonText(value)));
  return {
    kind: 'state',
    expectation: value === undefined ? path : `${path}=${value}`,
    reached: 'condition met',
    met: (object) => {
      const actualValues = values(object);
      return actualValues.length > 0 && (value === undefined || actualValues.every((one) => one === value));
    },
    distance: (object) => {
      const actualValues = values(object);
      return actualValues.length === 0 ? 'it has no value' : `it is ${actualValues.join(', ')}`;
    },
  };
}
