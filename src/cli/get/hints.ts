/** What was meant: names and namespaces that do not exist, next to those that do. */
import type { ApiResource } from '../../client/discovery.ts';
import { pathOf } from '../../client/dynamic.ts';
import { didYouMean } from '../../lib/suggest.ts';
import { ApiError } from '../../meta/errors.ts';
import { isStock } from '../program.ts';
import type { ObjectRef, Work } from '../work.ts';

/** Names that are looked at. */
const mostNames = 500;

/** ` (did you mean web?)` for an object that does not exist; nothing if the user may not list, or as kubectl. */
async function nameHint(work: Work, resource: ApiResource, namespace: string | undefined, name: string): Promise<string> {
  if (isStock(work.io) || !resource.verbs.includes('list')) return '';
  try {
    const list = await work.session.transport.json<{ items?: { metadata?: { name?: string } }[] }>({
      path: `${pathOf(resource, namespace)}?limit=${mostNames}`,
      signal: work.signal,
      ...work.session.timeout,
    });
    return didYouMean(
      name,
      (list.items ?? []).map(({ metadata }) => metadata?.name ?? ''),
    );
  } catch {
    return '';
  }
}

/** The error of a named object, with the name that was meant. */
export async function withNameHint(work: Work, error: ApiError, resource: ApiResource, namespace: string | undefined): Promise<ApiError> {
  const name = error.details?.name;
  if (error.reason !== 'NotFound' || name === undefined || name === '') return error;
  const hint = await nameHint(work, resource, namespace, name);
  return hint === '' ? error : new ApiError(error.code, error.reason, `${error.message}${hint}`, error.details);
}

/** The same for any error of an object that a command line names. */
export async function withObjectHint(work: Work, error: unknown, { resource, namespace }: ObjectRef): Promise<unknown> {
  return error instanceof ApiError ? withNameHint(work, error, resource, namespace) : error;
}

/** A line about a namespace that does not exist; nothing if it does, if that cannot be read, or as kubectl. */
export async function namespaceHint(work: Work): Promise<string> {
  if (isStock(work.io)) return '';
  const { namespace } = work;
  try {
    const resource = await work.discovery.find('namespaces');
    const missing = await work.get({ resource, namespace: undefined, name: namespace }).then(
      () => false,
      (error: unknown) => error instanceof ApiError && error.reason === 'NotFound',
    );
    return missing ? `There is no namespace ${JSON.stringify(namespace)}${await nameHint(work, resource, undefined, namespace)}\n` : '';
  } catch {
    return '';
  }
}
