/** A request without any credential comes from `system:anonymous`. */
import type { Authenticator } from '../types.ts';
import { anonymousUser } from './users.ts';

export const anonymous: Authenticator = { name: 'anonymous', authenticate: () => anonymousUser };

/** The same for requests of some paths alone. */
export function anonymousAt(paths: readonly string[]): Authenticator {
  const allowedPaths = new Set(paths);
  return { name: 'anonymous', authenticate: ({ path }) => (path !== undefined && allowedPaths.has(path) ? anonymousUser : undefined) };
}
