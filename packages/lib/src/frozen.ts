/**
 * Shared immutable data. It costs nothing in production; under test the data is frozen, so that a
 * write throws there (vitest.config.ts sets the variable). Browsers have no process.
 */
const enforced = typeof process === 'object' && process.env.PLAT_FREEZE === '1';

export function frozen<T>(value: T): T {
  if (enforced) freeze(value);
  return value;
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const item of Object.values(value)) freeze(item);
}
