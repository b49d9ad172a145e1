/** Random headers never make somebody out of nobody. */

import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { anonymous } from './authn/anonymous.ts';
import { authentication } from './authn/index.ts';
import { staticTokens } from './authn/static-tokens.ts';
import { noRules } from './authz/simple.ts';
import { impersonate, newLastModes } from './impersonation.ts';
import { type Attributes, type Authorizer, noOpinion, type User, wellKnown } from './types.ts';

const GOOD = 'good-token';
const { authenticator } = authentication({
  staticTokens: staticTokens(`${GOOD},admin,u1,"system:masters"\n`),
  anonymous,
  audiences: ['https://server'],
});

/** Header values near the good one, and any others. */
const authorization = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc
    .tuple(
      fc.constantFrom('Bearer', 'bearer', 'BEARER', 'Basic', 'Bearer,', '', 'B earer'),
      fc.constantFrom(' ', '  ', '\t', ''),
      fc.string(),
    )
    .map(([scheme, gap, token]) => `${scheme}${gap}${token}`),
  fc
    .tuple(fc.constantFrom('Bearer ', 'bearer '), fc.nat(GOOD.length), fc.string({ maxLength: 3 }))
    .map(([scheme, at, more]) => `${scheme}${GOOD.slice(0, at)}${more}${GOOD.slice(at)}`),
);

/** What proves something: the scheme in any case and then the token itself; what follows a further space does not count. */
const proves = (header: string): boolean => {
  const [scheme = '', token = ''] = header.trim().split(' ');
  return scheme.toLowerCase() === 'bearer' && token === GOOD;
};

test('an Authorization header that is not the token itself proves nobody', async () => {
  await fc.assert(
    fc.asyncProperty(authorization, async (header) => {
      let user: User | undefined;
      try {
        user = await authenticator.authenticate({ headers: { authorization: header }, rawHeaders: ['Authorization', header] });
      } catch (error) {
        expect((error as { code?: number }).code).toBe(401);
        return;
      }
      if (user?.name !== wellKnown.anonymous) expect(proves(header)).toBe(true);
    }),
    { numRuns: rounds(4000) },
  );
});

test('the token itself proves its user, so that the test above can fail', async () => {
  const header = `Bearer ${GOOD}`;
  const user = await authenticator.authenticate({ headers: { authorization: header }, rawHeaders: ['Authorization', header] });
  expect(user?.name).toBe('admin');
});

const refusing: Authorizer = { name: 'nobody', authorize: () => noOpinion, rulesFor: async () => noRules };
const caller: User = { name: 'caller', groups: [wellKnown.authenticated] };

test('whoever may impersonate nobody becomes nobody, whatever the headers say', async () => {
  const name = fc.constantFrom(
    'Impersonate-User',
    'impersonate-user',
    'Impersonate-Group',
    'Impersonate-Uid',
    'Impersonate-Extra-Scopes',
    'impersonate-extra-%41',
    'X-Remote-User',
  );
  const value = fc.oneof(fc.string(), fc.constantFrom('', 'admin', 'system:masters', 'system:serviceaccount:a:b', 'system:anonymous'));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(name, value), { maxLength: 6 }), async (headers) => {
      let user: User | undefined;
      try {
        const options = { identity: kubernetes, authorizer: refusing, constrained: headers.length % 2 === 0 && newLastModes() };
        const asCaller = { user: caller, verb: 'get', resource: 'pods', resourceRequest: true } as Attributes;
        user = (await impersonate(options, { rawHeaders: headers.flat() }, asCaller))?.user;
      } catch (error) {
        expect([400, 403]).toContain((error as { code?: number }).code);
        return;
      }
      expect(user).toBeUndefined();
    }),
    { numRuns: rounds(2000) },
  );
});
