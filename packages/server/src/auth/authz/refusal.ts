/** The message of a Forbidden error. */
import { type ApiError, forbidden } from '@plat-dev/meta/errors';
import type { Attributes } from '../types.ts';

/** A browser may show the message: text of the request must not become markup. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 *   User "bob" cannot list resource "pods" in API group "" in the namespace "default"
 *   User "bob" cannot get path "/metrics"
 */
export function forbiddenMessage(attributes: Attributes, reason: string): string {
  const user = `User ${JSON.stringify(attributes.user.name)} cannot ${attributes.verb}`;
  const tail = reason === '' ? '' : `: ${reason}`;
  if (!attributes.resourceRequest) return `${escaped(`${user} path ${JSON.stringify(attributes.path)}`)}${tail}`;
  const resource = attributes.subresource === '' ? attributes.resource : `${attributes.resource}/${attributes.subresource}`;
  const where = attributes.namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(attributes.namespace)}`;
  const what = `${user} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(attributes.group)} ${where}`;
  return escaped(what) + tail;
}

export const forbiddenError = (attributes: Attributes, reason: string): ApiError =>
  forbidden(
    { group: attributes.resourceRequest ? attributes.group : '', resource: attributes.resourceRequest ? attributes.resource : '' },
    attributes.resourceRequest ? attributes.name : '',
    forbiddenMessage(attributes, reason),
  );
