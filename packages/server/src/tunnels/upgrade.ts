/**
 * Upgrade requests run through the same pipeline as all others. They get a response object of their own, from which
 * a handler may take the connection; if none does, they are answered like any request and the connection ends.
 */

import type { Incoming, Outgoing, Upgrade } from '../exchange.ts';
import type { Request } from '../http1/request.ts';
import type { Response } from '../http1/response.ts';

export type Handle = (req: Incoming, res: Outgoing, upgrade?: Upgrade) => void;
/** `upgrade` is undefined for a request with a body, which is answered like any other. */
export type UpgradeHandle = (req: Request, res: Response, upgrade: Upgrade | undefined) => void;

/**
 * Handles requests that ask to switch protocols. `bearerProtocol` is the prefix of the WebSocket subprotocol in which browsers
 * send a token, for lack of a header.
 */
export function upgradeHandler(handle: Handle, bearerProtocol: string): UpgradeHandle {
  return (req, res, upgrade) => {
    adoptToken(req, bearerProtocol);
    handle(req, res, upgrade);
  };
}

/**
 * A script in a browser cannot set headers on a WebSocket. It sends the token as one of the subprotocols, in base64url,
 * which is removed so that it is not forwarded.
 */
function adoptToken(req: Request, prefix: string): void {
  const offered = req.headers['sec-websocket-protocol'];
  if (offered === undefined || !offered.includes(prefix)) return;
  const all = offered.split(',').map((name) => name.trim());
  const tokens = all.filter((name) => name.startsWith(prefix));
  const rest = all.filter((name) => !name.startsWith(prefix)).join(', ');
  const { 'sec-websocket-protocol': _, ...headers } = req.headers;
  const raw = req.rawHeaders.filter((_, i, list) => (list[i - (i % 2)] as string).toLowerCase() !== 'sec-websocket-protocol');
  if (rest !== '') {
    headers['sec-websocket-protocol'] = rest;
    raw.push('Sec-WebSocket-Protocol', rest);
  }
  // Two tokens, or a token in addition to the header, are left to the authenticator to refuse.
  for (const name of tokens) {
    const value = `Bearer ${Buffer.from(name.slice(prefix.length), 'base64url').toString('utf8')}`;
    headers.authorization ??= value;
    raw.push('Authorization', value);
  }
  req.headers = headers;
  req.rawHeaders = raw;
}
