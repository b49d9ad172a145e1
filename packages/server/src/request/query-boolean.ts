/** Booleans in queries, read in one place for all parameters. */
import { badRequest } from '@plat-dev/meta/errors';

const yes: readonly string[] = ['', '1', 't', 'true'];
const no: readonly string[] = ['0', 'f', 'false'];

/**
 * A parameter that is given without a value is true. Case does not matter: Python clients send `True` and `False`. Anything
 * else is refused: the meaning of `force=off` must not be guessed.
 */
export function queryBoolean(name: string, text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (text === 'true' || text === '1') return true;
  const word = text.toLowerCase();
  if (yes.includes(word)) return true;
  if (no.includes(word)) return false;
  throw badRequest(`query parameter "${name}" must be true or false, not ${JSON.stringify(text)}`);
}

/** Whether a list is a watch. An invalid value needs the permission to watch; the request is refused later. */
export const isWatch = (text: string | undefined): boolean => text !== undefined && !no.includes(text.toLowerCase());
