/**
 * Values as the client sent them, for errors that quote them. The normal form has one spelling for an amount and leaves out empty
 * maps; a stock server prints both as sent.
 */

import { isNumeric } from '@plat-dev/lib/integers';
import { own } from '@plat-dev/lib/own';
import { canonicalQuantity, QuantityError } from '@plat-dev/meta/quantity';
import { parseJson } from '@plat-dev/schema/json/parse';
import type { WriteRequest } from '../kind.ts';

/** The value at a path of the body: `bodyValue('spec', 'limits', 0, 'max')`. Undefined where there is none. */
export type BodyValue = (...path: readonly (string | number)[]) => unknown;

/** The body is parsed for the first error, and once for all of them. */
export function bodyValueOf(request: WriteRequest | undefined): BodyValue {
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
export function spelling(amount: string, sentValue: unknown): string {
  if (typeof sentValue !== 'string' && !isNumeric(sentValue)) return amount;
  try {
    const text = String(sentValue).trim();
    return canonicalQuantity(text) === amount ? text : amount;
  } catch (error) {
    if (error instanceof QuantityError) return amount;
    throw error;
  }
}
