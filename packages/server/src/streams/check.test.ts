import { kubernetes } from '@plat-dev/meta/identity';
import { expect, test } from 'vitest';
import { bearer } from '../auth/authn/bearer.ts';
import { type Authenticator, type Authorizer, type Decision, TokenRejected, TokenUnchecked, union } from '../auth/types.ts';
import type { Context } from '../context.ts';
import { requestInfo } from '../request/request-info.ts';
import { checkAgain } from './check.ts';

const rules = { resourceRules: [], nonResourceRules: [], incomplete: false };
const authorizerOf = (decide: (name: string, verb: string) => ReturnType<Authorizer['authorize']>): Authorizer => ({
  name: 'test',
  authorize: ({ user, verb }) => decide(user.name, verb),
  rulesFor: async () => rules,
});
const allow: Decision = { decision: 'allow', reason: '' };

const checking = (authenticator: Authenticator, authorizer: Authorizer): ReturnType<typeof checkAgain> =>
  checkAgain({ authenticator, impersonation: { identity: kubernetes, authorizer, constrained: false } });

function contextOf(headers: Record<string, string>): Context {
  const info = requestInfo('GET', '/api/v1/watch/namespaces/a/pods', () => undefined);
  return { info, req: { headers, rawHeaders: Object.entries(headers).flat(), socket: {} } } as unknown as Context;
}
const tokens = (answer: (value: string) => string) => ({
  name: 'test',
  authenticateToken: async ({ value }: { value: string }) => ({ user: { name: answer(value), groups: [] } }),
});
const asAlice = contextOf({ authorization: 'Bearer alice' });

test.each([
  ['allowed', allow, 'allowed'],
  ['denied', { decision: 'deny', reason: '' } as Decision, 'ended'],
  ['no opinion', { decision: 'none', reason: '' } as Decision, 'ended'],
  ['an authorizer that failed', { decision: 'none', reason: '', error: 'no answer' } as Decision, 'unknown'],
])('%s', async (_, decision, verdict) => {
  const authenticator = union([
    bearer(
      tokens((value) => value),
      [],
    ),
  ]);
  const check = checking(
    authenticator,
    authorizerOf(() => decision),
  );
  expect(await check(asAlice)).toBe(verdict);
  const remote = checking(
    authenticator,
    authorizerOf(async () => decision),
  );
  expect(await remote(asAlice)).toBe(verdict);
});

test('a credential that is refused ends the stream, one that could not be checked does not', async () => {
  const check = (error: Error) => {
    const failing = tokens(() => {
      throw error;
    });
    return checking(
      union([bearer(failing, [])]),
      authorizerOf(() => allow),
    )(asAlice);
  };
  expect(await check(new TokenRejected('expired'))).toBe('ended');
  expect(await check(new TokenUnchecked('the token webhook failed'))).toBe('unknown');
});

test('no credential any more, and nobody is anonymous', async () => {
  const check = checking(
    union([]),
    authorizerOf(() => allow),
  );
  expect(await check(asAlice)).toBe('ended');
});

test('the right to act as another is asked for again', async () => {
  const authenticator = union([
    bearer(
      tokens((value) => value),
      [],
    ),
  ]);
  const ctx = contextOf({ authorization: 'Bearer alice', 'impersonate-user': 'carol' });
  const asked: string[] = [];
  const decide = (may: boolean) => (name: string, verb: string) => {
    asked.push(`${name} ${verb}`);
    return verb === 'impersonate' && !may ? ({ decision: 'none', reason: '' } as Decision) : allow;
  };
  expect(await checking(authenticator, authorizerOf(decide(true)))(ctx)).toBe('allowed');
  expect(asked).toEqual(['alice impersonate', 'carol watch']);
  expect(await checking(authenticator, authorizerOf(decide(false)))(ctx)).toBe('ended');
});
