/**
 * An authenticating proxy: a client with a certificate of the proxies' own authority may name the user in headers.
 * Without such a certificate the headers are ignored.
 */
import { own, setOwn } from '@plat-dev/lib/own';
import { unauthorized } from '@plat-dev/meta/errors';
import type { Authenticator, AuthRequest, User } from '../types.ts';
import { type CertificateTrust, ClientVerifier } from './client-certificate.ts';
import { authenticated } from './users.ts';

export interface RequestHeaderOptions {
  /** In order of precedence. Names in any case. */
  readonly usernameHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
  /** Allowed common names of proxies; empty: any with a valid certificate. */
  readonly allowedNames: readonly string[];
  /** The CAs of proxies. */
  readonly trust: CertificateTrust;
}

/** The key of an extra field: lower case, percent-decoded; unchanged if it cannot be decoded. */
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

/** Header values are decoded as Latin-1; names beyond ASCII are UTF-8. */
function headerText(value: string): string {
  if (!beyondAscii.test(value)) return value;
  try {
    return strictUtf8.decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}

/** All values of headers, by lower-case name, in the order of the request. */
export function headerValues(rawHeaders: readonly string[], isWanted: (name: string) => boolean): Map<string, string[]> {
  const valuesByName = new Map<string, string[]>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    if (!isWanted(name)) continue;
    const values = valuesByName.get(name);
    if (values === undefined) valuesByName.set(name, [headerText(rawHeaders[i + 1] as string)]);
    else values.push(headerText(rawHeaders[i + 1] as string));
  }
  return valuesByName;
}

export function requestHeader(options: RequestHeaderOptions): Authenticator {
  const lower = (names: readonly string[]): string[] => names.map((name) => name.toLowerCase());
  const userHeaders = lower(options.usernameHeaders);
  const groupHeaders = lower(options.groupHeaders);
  const prefixes = lower(options.extraHeaderPrefixes);
  const verifier = new ClientVerifier(options.trust);

  /** Whether the connection is a proxy's; throws if its certificate is not one of a proxy. */
  const isProxy = (request: AuthRequest): boolean => {
    const subject = verifier.verify(request);
    if (subject === undefined) return false;
    if (options.allowedNames.length > 0 && !options.allowedNames.includes(subject.commonName)) throw unauthorized();
    return true;
  };
  const extras = (rawHeaders: readonly string[]): Record<string, string[]> => {
    const extra = Object.create(null) as Record<string, string[]>;
    for (const [name, values] of headerValues(rawHeaders, (one) => prefixes.some((prefix) => one.startsWith(prefix)))) {
      const prefix = prefixes.find((one) => name.startsWith(one)) ?? '';
      const key = extraKey(name.slice(prefix.length));
      setOwn(extra, key, [...(own(extra, key) ?? []), ...values]);
    }
    return extra;
  };
  return {
    name: 'request-header',
    authenticate(request) {
      const hasUserHeader = userHeaders.some((name) => own(request.headers, name) !== undefined && own(request.headers, name) !== '');
      if (!hasUserHeader) return undefined;
      if (!isProxy(request)) return undefined;
      const values = headerValues(request.rawHeaders, (name) => userHeaders.includes(name) || groupHeaders.includes(name));
      const names = userHeaders.map((header) => values.get(header) ?? []).find((all) => all.some((value) => value !== '')) ?? [];
      // One of two user names may be a header of the client that the proxy did not remove.
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
