/**
 * Values as the client sent them, for errors that quote them. The normal form has one spelling for an amount and leaves out empty
 * maps; a stock server prints both as sent.
 */

import { isNumeric } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import { canonicalQuantity, QuantityError } from '@plat-dev/meta/quantity';
import { parseJson } from '@plat-dev/schema/json/parse';
import type { WriteRequest } from '../kind.ts';

/** The value at a path of the body: `written('spec', 'limits', 0, 'max')`. Undefined where there is none. */
export type Written = (...path: readonly (string | number)[]) => unknown;

/** The body is parsed for the first error, and once for all of them. */
export function writtenIn(request: WriteRequest | undefined): Written {
  let body: { readonly value: unknown } | undefined;
  return (...path) => {
    if (request?.sent === undefined) return undefined;
    body ??= { value: parseJson(request.sent, { merge: true }) };
    let { value } = body;
    for (const step of path) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
      value = own(value as Record<string, unknown>, `${step}`);
    }
    return value;
  };
}

/** The spelling of an amount in the body, if the value is still the same: admission may have changed it. */
export function spelling(amount: string, written: unknown): string {
  if (typeof written !== 'string' && !isNumeric(written)) return amount;
  try {
    const text = String(written).trim();
    return canonicalQuantity(text) === amount ? text : amount;
  } catch (error) {
    if (error instanceof QuantityError) return amount;
    throw error;
  }
}
