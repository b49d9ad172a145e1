/**
 * The cookie of a session of the console. Browsers send it with every request to the server's origin, also to those that are passed on
 * to other servers, which must not see it. Its name has the port, because browsers share cookies between the ports of a host.
 *
 *   https://127.0.0.1:6443   __Host-plat-console-6443       http://127.0.0.1:8001   plat-console-8001
 */
export function consoleCookieName(origin: URL): string {
  const isSecure = origin.protocol === 'https:';
  return `${isSecure ? '__Host-' : ''}plat-console-${origin.port || (isSecure ? 443 : 80)}`;
}

/**
 * Whether a Set-Cookie header, or one of the cookies of a Cookie header, is of the console. Browsers send `=a=1`, which has no name, as
 * `a=1`.
 */
export const isConsoleCookie = (cookie: string): boolean => /^[\s=]*(?:__Host-)?plat-console-/i.test(cookie);

/** A Cookie header without cookies of the console; undefined: nothing is left. The same text: it has none. */
export function withoutConsoleCookies(header: string): string | undefined {
  if (!header.includes('plat-console-')) return header;
  const others = header.split(';').filter((cookie) => !isConsoleCookie(cookie));
  return others.length === 0 ? undefined : others.join(';').trim();
}
