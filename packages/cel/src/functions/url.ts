/** URLs: absolute ones, and paths that begin with a slash. */
import type { Frame } from '../budget.ts';
import { fail } from '../errors.ts';
import { range } from '../estimates.ts';
import { makes, makesSame } from '../prices.ts';
import { BOOL, listOf, mapOf, STRING, URL_TYPE } from '../types.ts';
import { CelMap, type ParsedUrl, UrlValue } from '../values.ts';
import { global, member, type Overload } from './signature.ts';

const shape = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?]*))?(\/[^?]*)?(?:\?([\s\S]*))?$/;
const badEscape = /%(?![0-9A-Fa-f]{2})/;
const badHost = /[\s"#<>\\^`{|}]/;
const userInfo = /^[\w\-.:~!$&'()*+,;=%@]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const control = /[\x00-\x1f\x7f]/;

/** Undefined where the text is no URL. */
function parseUrl(frame: Frame, text: string): ParsedUrl | undefined {
  frame.spend(100 + text.length);
  const urlMatch = shape.exec(text);
  if (urlMatch === null || text === '' || control.test(text)) return undefined;
  const [, scheme = '', authority, path = '', query = ''] = urlMatch;
  // What has no scheme is a path.
  if (scheme === '' ? !text.startsWith('/') : authority === undefined && path === '') return undefined;
  const at = (authority ?? '').lastIndexOf('@');
  const host = (authority ?? '').slice(at + 1);
  if (at > 0 && !userInfo.test((authority ?? '').slice(0, at))) return undefined;
  if (badEscape.test(path) || badEscape.test(authority ?? '') || badHost.test(host) || !isHost(host)) return undefined;
  return { scheme: scheme.toLowerCase(), host, path, query };
}
/** A name or address with an optional port. */
function isHost(host: string): boolean {
  if (host.startsWith('[')) return /^\[[0-9A-Fa-f:.]+(?:%25[^\]]+)?\](?::\d*)?$/.test(host);
  return /^[^:[\]]*(?::\d*)?$/.test(host);
}
/** The path with all escaped that must be. */
const escapedPath = (path: string): string => path.replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/%]/gu, (char) => encodeURIComponent(char));

/** Undefined where an escape is none. Bytes that are no text are replaced. */
function decoded(text: string): string | undefined {
  const plain = text.replaceAll('+', ' ');
  if (!plain.includes('%')) return plain;
  if (badEscape.test(plain)) return undefined;
  return plain.replace(/(?:%[0-9A-Fa-f]{2})+/g, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString());
}
/** Values by name; what cannot be read is left out. */
function queryOf(frame: Frame, { url }: UrlValue): CelMap {
  frame.spend(20 * url.query.length);
  const map = new CelMap();
  for (const part of url.query.split('&')) {
    if (part === '' || part.includes(';')) continue;
    const equals = part.indexOf('=');
    const name = decoded(equals < 0 ? part : part.slice(0, equals));
    const value = decoded(equals < 0 ? '' : part.slice(equals + 1));
    if (name === undefined || value === undefined) continue;
    const values = map.get(name) as string[] | undefined;
    if (values === undefined) map.set(name, [value]);
    else values.push(value);
  }
  return map;
}
const port = /:(\d*)$/;
const hostname = (host: string): string => host.replace(port, '').replace(/^\[(.*)\]$/, '$1');

/** A part of a URL is not longer than all of it. */
const part = makes(([url]) => range(0, url?.size.max ?? 0));

export const urlFunctions: readonly Overload[] = [
  global(
    'url',
    [STRING],
    URL_TYPE,
    (frame, text: string) => {
      const url = parseUrl(frame, text);
      return url === undefined ? fail('URL parse error during conversion from string: invalid URI for request') : new UrlValue(text, url);
    },
    makesSame,
  ),
  global('isURL', [STRING], BOOL, (frame, text: string) => parseUrl(frame, text) !== undefined),
  member('getScheme', [URL_TYPE], STRING, (_, { url }: UrlValue) => url.scheme, part),
  member('getHost', [URL_TYPE], STRING, (_, { url }: UrlValue) => url.host, part),
  member('getHostname', [URL_TYPE], STRING, (_, { url }: UrlValue) => hostname(url.host), part),
  member(
    'getPort',
    [URL_TYPE],
    STRING,
    (_, { url }: UrlValue) => (/\]|^[^:]*:\d*$/.test(url.host) ? (port.exec(url.host)?.[1] ?? '') : ''),
    part,
  ),
  member(
    'getEscapedPath',
    [URL_TYPE],
    STRING,
    (frame, { url }: UrlValue) => {
      frame.spendLength(url.path.length);
      return escapedPath(url.path);
    },
    part,
  ),
  member('getQuery', [URL_TYPE], mapOf(STRING, listOf(STRING)), queryOf, part),
];
