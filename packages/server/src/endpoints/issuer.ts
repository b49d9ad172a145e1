/** Documents by which other parties verify this server's tokens. They may be cached for an hour. */
import { parseAccept, unacceptable } from '../request/negotiate.ts';
import { send } from '../response/respond.ts';
import { type Endpoint, readOnly } from './endpoint.ts';

export function issuerEndpoint(type: string, document: () => Promise<string>): Endpoint {
  return readOnly(async (ctx) => {
    const accept = ctx.header('accept');
    const acceptedTypes = accept === undefined ? [] : parseAccept(accept).map((clause) => `${clause.type}/${clause.subtype}`);
    if (acceptedTypes.length > 0 && !acceptedTypes.some((name) => name === '*/*' || name === 'application/*' || name === type))
      throw unacceptable();
    const at = ctx.headers.indexOf('Cache-Control');
    if (at >= 0) ctx.headers[at + 1] = 'public, max-age=3600';
    send(ctx, 200, type, await document());
  });
}
