/**
 * Data that several hands hold and none may change. Saying so costs nothing; under test it is enforced, so that whoever
 * changes it fails there (vitest.config.ts sets the variable).
 */
const enforced = process.env.PLAT_FREEZE === '1';

export function frozen<T>(value: T): T {
  if (enforced) freeze(value);
  return value;
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const item of Object.values(value)) freeze(item);
}
