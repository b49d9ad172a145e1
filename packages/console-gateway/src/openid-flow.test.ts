/** What a provider, or someone between, may do wrong. */
import { FakeClock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { seededRandom } from '@plat-dev/lib/random';
import { unauthorized } from '@plat-dev/meta/errors';
import { expect, test } from 'vitest';
import { LOGIN_MS, OpenIdLogIns } from './openid-flow.ts';

const issuer = 'https://id.example';
const configuration = {
  issuer,
  authorization_endpoint: `${issuer}/auth`,
  token_endpoint: `${issuer}/token`,
  scopes_supported: ['openid', 'offline_access'],
};
const tokenOf = (claims: object): string => `e30.${Buffer.from(jsonText(claims)).toString('base64url')}.c2ln`;
const redirect = 'https://plat.example/console/oidc/callback';

/** A provider whose tokens are valid for ten minutes, and which answers as a test says. */
function stand(
  changes: { readonly configuration?: object; readonly answer?: (form: URLSearchParams, nonce: string) => object | number } = {},
) {
  const clock = new FakeClock();
  const forms: URLSearchParams[] = [];
  let nonce = '';
  const usual = (): object => ({ id_token: tokenOf({ nonce, exp: clock.now() / 1000 + 600, n: forms.length }), refresh_token: 'refresh' });
  const logIns = new OpenIdLogIns(
    {
      issuer,
      clientId: 'plat',
      clientSecret: () => undefined,
      async call(url, text) {
        if (text === undefined) return { status: 200, text: jsonText(changes.configuration ?? configuration) };
        expect(url).toBe(`${issuer}/token`);
        const form = new URLSearchParams(text);
        forms.push(form);
        const answer = changes.answer?.(form, nonce) ?? usual();
        return typeof answer === 'number' ? { status: answer, text: '{}' } : { status: 200, text: jsonText(answer) };
      },
      byToken: (token) => () => {
        const { exp, n } = JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString());
        if (clock.now() >= exp * 1000) throw unauthorized();
        return { name: `ann by token ${n}`, groups: [] };
      },
    },
    clock,
    seededRandom(1),
  );
  const begun = async () => {
    const { address, state } = await logIns.begin(redirect);
    nonce = new URL(address).searchParams.get('nonce') ?? '';
    return { address: new URL(address), state };
  };
  const finish = (state: string, query: Record<string, string> = { code: 'c' }, cookie = state) =>
    logIns.finish(new URLSearchParams({ state, ...query }), cookie);
  return { clock, forms, begun, finish };
}

test('the code is exchanged with the verifier of the challenge, once', async () => {
  const { begun, finish, forms } = stand();
  const { state, address } = await begun();
  expect(Object.fromEntries(address.searchParams)).toMatchObject({
    response_type: 'code',
    client_id: 'plat',
    redirect_uri: redirect,
    scope: 'openid offline_access',
  });
  const caller = await finish(state);
  expect(await caller()).toMatchObject({ name: 'ann by token 1' });
  expect(Object.fromEntries(forms[0] as URLSearchParams)).toMatchObject({
    grant_type: 'authorization_code',
    code: 'c',
    redirect_uri: redirect,
    code_verifier: expect.stringMatching(/^[\w-]{43}$/),
  });
  await expect(finish(state)).rejects.toMatchObject({ code: 401 });
});
test.each<[string, (state: string) => [string, Record<string, string>, string]]>([
  ['a state that nobody began', (state) => [`${state}x`, { code: 'c' }, `${state}x`]],
  ['a browser without the cookie', (state) => [state, { code: 'c' }, '']],
  ['a refusal of the provider', (state) => [state, { error: 'access_denied' }, state]],
])('%s logs nobody in', async (_, change) => {
  const { begun, finish, forms } = stand();
  const { state } = await begun();
  await expect(finish(...change(state))).rejects.toMatchObject({ code: 401 });
  expect(forms).toEqual([]);
});
test('a log-in takes ten minutes at most', async () => {
  const { begun, finish, clock } = stand();
  const { state } = await begun();
  await clock.advance(LOGIN_MS);
  await expect(finish(state)).rejects.toMatchObject({ code: 401 });
});
test('of more than a thousand log-ins that are not finished, the oldest is forgotten', async () => {
  const { begun, finish } = stand();
  const first = await begun();
  const second = await begun();
  for (let i = 2; i < 1001; i++) await begun();
  await expect(finish(first.state)).rejects.toMatchObject({ code: 401 });
  await expect(finish(second.state)).rejects.toMatchObject({ message: 'the provider answered another log-in than this one' });
});
test.each([
  ['the token of another log-in', () => ({ id_token: tokenOf({ nonce: 'other' }) }), 401],
  ['no token', () => ({ access_token: 'x' }), 401],
  ['a token that is none', () => ({ id_token: 'x' }), 503],
  ['an error', () => 400, 401],
])('%s logs nobody in', async (_, answer, code) => {
  const { begun, finish } = stand({ answer });
  const { state } = await begun();
  await expect(finish(state)).rejects.toMatchObject({ code });
});
test.each([
  ['another issuer', { ...configuration, issuer: 'https://evil.example' }],
  ['log-in without TLS', { ...configuration, authorization_endpoint: 'http://id.example/auth' }],
  ['tokens without TLS', { ...configuration, token_endpoint: 'http://id.example/token' }],
])('a provider with %s is not used', async (_, other) => {
  await expect(stand({ configuration: other }).begun()).rejects.toMatchObject({ code: 503 });
});
test('a token is renewed before it expires, once for all that wait', async () => {
  const { begun, finish, clock, forms } = stand();
  const caller = await finish((await begun()).state);
  await clock.advance(9 * 60_000);
  const names = (await Promise.all([caller(), caller()])).map(({ name }) => name);
  expect(names).toEqual(['ann by token 2', 'ann by token 2']);
  expect(forms[1]?.get('refresh_token')).toBe('refresh');
  expect(forms).toHaveLength(2);
});
test('a session whose token cannot be renewed ends with it', async () => {
  const { begun, finish, clock, forms } = stand({
    answer: (form, nonce) =>
      form.get('grant_type') === 'refresh_token'
        ? 400
        : { id_token: tokenOf({ nonce, exp: clock.now() / 1000 + 600 }), refresh_token: 'r' },
  });
  const caller = await finish((await begun()).state);
  await clock.advance(9 * 60_000);
  await caller();
  await clock.advance(60_000);
  await expect(caller()).rejects.toMatchObject({ code: 401 });
  // The provider is not asked again and again.
  expect(forms).toHaveLength(2);
});
