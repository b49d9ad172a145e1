/** A request without any credential comes from `system:anonymous`. */
import type { Authenticator } from '../types.ts';
import { anonymousUser } from './users.ts';

export const anonymous: Authenticator = { name: 'anonymous', authenticate: () => anonymousUser };
