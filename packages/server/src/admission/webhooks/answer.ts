/** Checks the HTTP response of a webhook, before it is parsed. */

import { parseJson } from '@plat-dev/schema/json/parse';
import type { JsonValue } from '@plat-dev/schema/types';
import type { Reply } from '../../http-client/connection.ts';

/** The JSON of a response. Throws an Error that describes an invalid one. */
export function answeredJson({ status, body }: Reply): JsonValue {
  if (status < 200 || status > 206) throw new Error(statusText(status));
  if (body.length === 0) throw new Error(`0-length response with status code: ${status} and content type: application/json`);
  return parseJson(body, { uncounted: true });
}

function statusText(status: number): string {
  if (status === 404) return 'the server could not find the requested resource';
  if (status === 401) return 'the server has asked for the client to provide credentials';
  if (status >= 500) return 'an error on the server ("unknown") has prevented the request from succeeding';
  return `the server rejected our request for an unknown reason (status ${status})`;
}
