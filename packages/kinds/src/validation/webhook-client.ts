/** Validation of the address of a webhook: a URL, or a service of the cluster. For admission and conversion webhooks. */
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import { dns1123Subdomain, portNumber } from '@plat-dev/meta/names';

export interface WebhookClient {
  readonly url?: string;
  readonly service?: { readonly namespace: string; readonly name: string; readonly path?: string; readonly port?: number };
}

export function validateWebhookClient({ url, service }: WebhookClient, at: Path, errors: FieldErrors): void {
  if ((url === undefined) === (service === undefined)) errors.required(at, 'exactly one of url or service is required');
  else if (url !== undefined) validateURL(url, at.child('url'), errors);
  else if (service !== undefined) validateService(service, at.child('service'), errors);
}

// ---- URLs --------------------------------------------------------------------------------------------------------

const FORM = '; desired format: https://host[/path]';

function validateURL(text: string, at: Path, errors: FieldErrors): void {
  const url = splitURL(text);
  if (typeof url === 'string') {
    errors.required(at, `url must be a valid URL: parse ${JSON.stringify(text)}: ${url}${FORM}`);
    return;
  }
  if (url.scheme !== 'https') errors.invalid(at, url.scheme, `'https' is the only allowed URL scheme${FORM}`);
  if (url.host === '') errors.invalid(at, url.host, `host must be provided${FORM}`);
  if (url.user !== undefined) errors.invalid(at, url.user, 'user information is not permitted in the URL');
  if (url.fragment !== '') errors.invalid(at, url.fragment, 'fragments are not permitted in the URL');
  if (url.query !== '') errors.invalid(at, url.query, 'query parameters are not permitted in the URL');
}

interface URLParts {
  readonly scheme: string;
  readonly host: string;
  readonly user: string | undefined;
  readonly query: string;
  readonly fragment: string;
}

/** The parts of a URL as written, or its error. The URL class would correct URLs that must be refused. */
function splitURL(text: string): URLParts | string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  if (/[\x00-\x1f\x7f]/.test(text)) return 'net/url: invalid control character in URL';
  const match = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(text);
  if (match === null || text.startsWith(':')) return 'missing protocol scheme';
  const [, scheme = '', authority = '', path = '', query = '', fragment = ''] = match;
  const badEscape = /%(?![0-9A-Fa-f]{2})/.exec(path);
  if (badEscape !== null) return `invalid URL escape ${JSON.stringify(path.slice(badEscape.index, badEscape.index + 3))}`;
  const sign = authority.lastIndexOf('@');
  const host = authority.slice(sign + 1);
  const port = /:([^:\]]*)$/.exec(host);
  if (port !== null && !/^[0-9]*$/.test(port[1] as string)) return `invalid port ${JSON.stringify(port[0])} after host`;
  return { scheme: scheme.toLowerCase(), host, user: sign < 0 ? undefined : authority.slice(0, sign), query, fragment };
}

// ---- services ----------------------------------------------------------------------------------------------------

function validateService(service: NonNullable<WebhookClient['service']>, at: Path, errors: FieldErrors): void {
  const { name, namespace, port = 0, path = '' } = service;
  if (name === '') errors.required(at.child('name'), 'service name is required');
  if (namespace === '') errors.required(at.child('namespace'), 'service namespace is required');
  validateServicePort(port, at.child('port'), errors);
  validatePath(path, at.child('path'), errors);
}

export function validateServicePort(port: number, at: Path, errors: FieldErrors): void {
  for (const problem of portNumber(port)) errors.invalid(at, port, `port is not valid: ${problem}`);
}

function validatePath(path: string, at: Path, errors: FieldErrors): void {
  if (path === '' || path === '/') return;
  if (path === '//') {
    errors.invalid(at, path, 'segment[0] may not be empty');
    return;
  }
  if (!path.startsWith('/')) errors.invalid(at, path, "must start with a '/'");
  const segments = path.slice(1, path.length > 1 && path.endsWith('/') ? -1 : undefined).split('/');
  for (const [i, segment] of segments.entries()) {
    if (segment === '') errors.invalid(at, path, `segment[${i}] may not be empty`);
    else for (const problem of dns1123Subdomain(segment)) errors.invalid(at, path, `segment[${i}]: ${problem}`);
  }
}
