/** Which requests come from the page itself: those of other sites, which browsers send with its cookie, are refused. */
import { badRequest, forbidden } from '@plat-dev/meta/errors';
import { type BrowserRequest, headerOf } from './exchange.ts';

/** A header that scripts of other origins cannot send without the consent of the server, which it never gives. */
export const PAGE_HEADER = 'X-Plat-Console';

const nothing = { group: '', resource: '' };
const refusedSite = () => forbidden(nothing, '', 'the request comes from another site than the console');

/** The origin by which the browser reaches the server, by TLS where that is its public name. Throws where the request names none. */
export function originOf(request: BrowserRequest, publicHost: string | undefined): URL {
  const host = headerOf(request, 'host') ?? headerOf(request, ':authority') ?? '';
  const origin = `${request.socket.encrypted === true || host.toLowerCase() === publicHost ? 'https' : 'http'}://${host}`;
  if (host === '' || !URL.canParse(origin)) throw badRequest('the request names no host');
  return new URL(origin);
}

/**
 * Without TLS the name of the host proves nothing: a name of any web page may lead to this machine. So only names that always mean
 * this machine are accepted there.
 */
export function checkHost(request: BrowserRequest, origin: URL, publicHost: string | undefined): void {
  if (request.socket.encrypted === true || isLoopbackName(origin.hostname) || origin.host === publicHost) return;
  throw forbidden(nothing, '', 'over plain HTTP the console is served to names of this machine only, such as localhost');
}

const isLoopbackName = (name: string): boolean => name === 'localhost' || name === '[::1]' || /^127(\.\d+){3}$/.test(name);

/** Throws if a page of another origin made the request, as far as the browser says where it comes from. */
export function checkSite(request: BrowserRequest, origin: URL, publicHost: string | undefined): void {
  const site = headerOf(request, 'sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw refusedSite();
  const sender = headerOf(request, 'origin');
  if (sender !== undefined && sender !== origin.origin && sender !== publicOrigin(publicHost)) throw refusedSite();
}

/** The same for a WebSocket, to which a page can add no header, but whose origin every browser names. */
export function checkSocketSite(request: BrowserRequest, origin: URL, publicHost: string | undefined): void {
  if (headerOf(request, 'origin') === undefined) throw refusedSite();
  checkSite(request, origin, publicHost);
}

const publicOrigin = (host: string | undefined): string | undefined => (host === undefined ? undefined : `https://${host}`);

/** Whether the other end of the connection is on this machine. */
export function isLoopback({ socket }: BrowserRequest): boolean {
  const address = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  return address === '::1' || /^127(\.\d+){3}$/.test(address);
}

/** Whether a proxy says that it stands for others. */
export const isForwarded = ({ headers }: BrowserRequest): boolean =>
  Object.keys(headers).some((name) => name === 'forwarded' || name === 'via' || name === 'x-real-ip' || name.startsWith('x-forwarded-'));
