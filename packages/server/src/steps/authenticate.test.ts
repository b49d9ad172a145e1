import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { anonymousUser } from '../auth/authn/users.ts';
import type { Authenticator, User } from '../auth/types.ts';
import type { Context } from '../context.ts';
import { authenticate } from './authenticate.ts';

/** The warnings of a request with this header, that the authenticator takes for a user. */
async function warnings(authorization: string, user: User, warnsOfSpaces: boolean): Promise<readonly string[]> {
  const texts: string[] = [];
  const ctx = { header: () => authorization, warn: (text: string) => texts.push(text), req: { headers: {}, rawHeaders: [], socket: {} } };
  const authenticator: Authenticator = { name: kubernetes.name, authenticate: () => user };
  await authenticate(authenticator, undefined, warnsOfSpaces)(ctx as unknown as Context);
  return texts;
}
const ignored = ['the provided Authorization header contains extra space before the bearer token, and is ignored'];

test('anonymous callers learn why their token does not count, where the release says so', async () => {
  expect(await warnings('Bearer  secret', anonymousUser, true)).toEqual(ignored);
  expect(await warnings('bearer   secret', anonymousUser, true)).toEqual(ignored);
  expect(await warnings('Bearer  secret', anonymousUser, false)).toEqual([]);
  expect(await warnings('Bearer secret', anonymousUser, true)).toEqual([]);
  expect(await warnings('Bearer  ', anonymousUser, true)).toEqual([]);
  expect(await warnings('Bearer  secret', { name: 'jane', groups: [] }, true)).toEqual([]);
});
