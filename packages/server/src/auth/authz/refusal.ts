/** The message of a Forbidden error. */
import { type ApiError, forbidden } from '@plat-dev/meta/errors';
import type { Attributes } from '../types.ts';

/** A browser may show the message: text of the request must not become markup. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 *   User "bob" cannot list resource "pods" in API group "" in the namespace "default"
 *   User "bob" cannot get path "/metrics"
 */
export function forbiddenMessage(asked: Attributes, reason: string): string {
  const user = `User ${JSON.stringify(asked.user.name)} cannot ${asked.verb}`;
  const tail = reason === '' ? '' : `: ${reason}`;
  if (!asked.resourceRequest) return `${escaped(`${user} path ${JSON.stringify(asked.path)}`)}${tail}`;
  const resource = asked.subresource === '' ? asked.resource : `${asked.resource}/${asked.subresource}`;
  const where = asked.namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(asked.namespace)}`;
  const what = `${user} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(asked.group)} ${where}`;
  return escaped(what) + tail;
}

export const forbiddenError = (asked: Attributes, reason: string): ApiError =>
  forbidden(
    { group: asked.resourceRequest ? asked.group : '', resource: asked.resourceRequest ? asked.resource : '' },
    asked.resourceRequest ? asked.name : '',
    forbiddenMessage(asked, reason),
  );
