/** A request of the page as the API gets it. */
import type { IncomingHttpHeaders } from 'node:http';
import { setOwn } from '@plat-dev/lib/own';
import type { ApiCall } from './backend.ts';
import type { BrowserRequest } from './exchange.ts';
import { PAGE_HEADER } from './origin.ts';
import type { Caller } from './sessions.ts';

/** The session says who asks: nothing else that a browser sends does, and no other server may see its cookies. */
const droppedNames = new Set(['cookie', 'authorization', 'proxy-authorization', PAGE_HEADER.toLowerCase()]);

export function callOf(request: BrowserRequest, prefix: string, caller: Caller): ApiCall {
  const headers: IncomingHttpHeaders = {};
  for (const [name, value] of Object.entries(request.headers)) if (!droppedNames.has(name)) setOwn(headers, name, value);
  const { rawHeaders } = request;
  const kept = rawHeaders.filter((_, i) => !droppedNames.has((rawHeaders[i - (i % 2)] as string).toLowerCase()));
  return { url: (request.url ?? '').slice(prefix.length), headers, rawHeaders: kept, caller };
}
