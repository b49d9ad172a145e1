/** The cookies of the console. */
import { consoleCookieName } from '@plat-dev/meta/console-cookie';
import { type BrowserRequest, headerOf } from './exchange.ts';

/** The id of the session; undefined: the request has none. */
export const cookieOf = (request: BrowserRequest, origin: URL): string | undefined => cookieNamed(request, consoleCookieName(origin));

function cookieNamed(request: BrowserRequest, name: string): string | undefined {
  for (const cookie of (headerOf(request, 'cookie') ?? '').split(';')) {
    const at = cookie.indexOf('=');
    if (at > 0 && cookie.slice(0, at).trim() === name) return cookie.slice(at + 1).trim();
  }
  return undefined;
}

/** Headers that set the cookie; without a value they remove it. It ends with the browser, if the session does not end before. */
export const setCookie = (origin: URL, value: string | undefined): readonly string[] =>
  settingOf(origin, consoleCookieName(origin), value, 'SameSite=Strict');

/** The state of a log-in at an OpenID provider, from which the browser comes back: a strict cookie would be left out then. */
export const openIdCookie = (request: BrowserRequest, origin: URL): string | undefined => cookieNamed(request, openIdName(origin));
export const setOpenIdCookie = (origin: URL, value: string | undefined): readonly string[] =>
  settingOf(origin, openIdName(origin), value, 'SameSite=Lax');
const openIdName = (origin: URL): string => `${consoleCookieName(origin)}-oidc`;

function settingOf(origin: URL, name: string, value: string | undefined, site: string): readonly string[] {
  // Browsers refuse cookies that are Secure over plain HTTP, and those of a __Host- name that have another path.
  const scope = origin.protocol === 'https:' ? '; Secure; Path=/' : '; Path=/console/';
  return ['Set-Cookie', `${name}=${value ?? ''}${scope}; HttpOnly; ${site}${value === undefined ? '; Max-Age=0' : ''}`];
}
