/**
 * An authenticating proxy: whoever shows a certificate of the proxies' own authority may name the user in headers.
 * Without such a certificate the headers say nothing at all.
 */
import { subjectOf } from '../../lib/pki.ts';
import { unauthorized } from '../../meta/errors.ts';
import type { Authenticator, AuthRequest, User } from '../types.ts';
import { ClientVerifier, type RevokedNow, type Roots } from './client-certificate.ts';
import { authenticated } from './users.ts';

export interface RequestHeaderOptions {
  /** In the order in which they count. Names in any case. */
  readonly usernameHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
  /** Common names of proxies; empty: any whose certificate is good. */
  readonly allowedNames: readonly string[];
  readonly roots: Roots;
  readonly now: () => number;
  readonly revoked?: RevokedNow;
}

/** The key of an extra: lower case, percent-decoded; as it came where that cannot be done. */
export function extraKey(text: string): string {
  const lower = text.toLowerCase();
  try {
    return decodeURIComponent(lower);
  } catch {
    return lower;
  }
}

const beyondAscii = /[\x80-\xff]/;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/** Header values arrive byte by byte; names beyond ASCII are meant as UTF-8. */
function headerText(value: string): string {
  if (!beyondAscii.test(value)) return value;
  try {
    return strictUtf8.decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}

/** All values of headers, by lower-case name, in the order of the request. */
export function headerValues(rawHeaders: readonly string[], wanted: (name: string) => boolean): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    if (!wanted(name)) continue;
    const values = found.get(name);
    if (values === undefined) found.set(name, [headerText(rawHeaders[i + 1] as string)]);
    else values.push(headerText(rawHeaders[i + 1] as string));
  }
  return found;
}

export function requestHeader(options: RequestHeaderOptions): Authenticator {
  const lower = (names: readonly string[]): string[] => names.map((name) => name.toLowerCase());
  const userHeaders = lower(options.usernameHeaders);
  const groupHeaders = lower(options.groupHeaders);
  const prefixes = lower(options.extraHeaderPrefixes);
  const verifier = new ClientVerifier(options.roots, options.now, options.revoked);

  /** Whether the connection is a proxy's; throws where it shows a certificate that is not one. */
  const isProxy = (request: AuthRequest): boolean => {
    const leaf = verifier.verify(request);
    if (leaf === undefined) return false;
    if (options.allowedNames.length > 0 && !options.allowedNames.includes(subjectOf(leaf).commonName)) throw unauthorized();
    return true;
  };
  const extras = (rawHeaders: readonly string[]): Record<string, string[]> => {
    const extra = Object.create(null) as Record<string, string[]>;
    for (const [name, values] of headerValues(rawHeaders, (one) => prefixes.some((prefix) => one.startsWith(prefix)))) {
      const prefix = prefixes.find((one) => name.startsWith(one)) ?? '';
      const key = extraKey(name.slice(prefix.length));
      extra[key] = [...(extra[key] ?? []), ...values];
    }
    return extra;
  };
  return {
    name: 'request-header',
    authenticate(request) {
      const named = userHeaders.some((name) => request.headers[name] !== undefined && request.headers[name] !== '');
      if (!named) return undefined;
      let proxy: boolean;
      try {
        proxy = isProxy(request);
      } catch {
        throw unauthorized();
      }
      if (!proxy) return undefined;
      const values = headerValues(request.rawHeaders, (name) => userHeaders.includes(name) || groupHeaders.includes(name));
      const names = userHeaders.map((header) => values.get(header) ?? []).find((all) => all.some((value) => value !== '')) ?? [];
      // Of two names one may be what a client slipped past the proxy.
      if (names.length > 1) throw unauthorized();
      const [name = ''] = names;
      if (name === '') return undefined;
      const groups = groupHeaders.flatMap((header) => values.get(header) ?? []).filter((group) => group !== '');
      const extra = extras(request.rawHeaders);
      const user: User = { name, groups, ...(Object.keys(extra).length > 0 && { extra: { ...extra } }) };
      return authenticated(user);
    },
  };
}
