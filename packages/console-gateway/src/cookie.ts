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

/** A header that sets the cookie; one without a value removes it. It ends with the browser, if the session does not end before. */
export function setCookie(origin: URL, value: string | undefined): readonly string[] {
  // Browsers refuse cookies that are Secure over plain HTTP, and those of a __Host- name that have another path.
  const scope = origin.protocol === 'https:' ? '; Secure; Path=/' : '; Path=/console/';
  const end = value === undefined ? '; Max-Age=0' : '';
  return ['Set-Cookie', `${consoleCookieName(origin)}=${value ?? ''}${scope}; HttpOnly; SameSite=Strict${end}`];
}
