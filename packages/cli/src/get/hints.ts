/** What was meant: names and namespaces that do not exist, next to those that do. */
import type { ApiResource, Discovery } from '@plat-dev/client/discovery';
import { pathOf } from '@plat-dev/client/dynamic';
import { didYouMean } from '@plat-dev/lib/suggest';
import { ApiError } from '@plat-dev/meta/errors';
import type { IO } from '../command.ts';
import type { Session } from '../connect.ts';
import type { ObjectRef } from '../objects/object-ref.ts';
import { isStock } from '../program.ts';

/** The work of a command, as far as hints need it. */
export interface HintedWork {
  readonly io: IO;
  readonly session: Session;
  readonly signal: AbortSignal;
  readonly namespace: string;
  readonly discovery: Pick<Discovery, 'find'>;
  get(ref: ObjectRef): Promise<unknown>;
}

/** Names that are looked at. */
const mostNames = 500;

/** ` (did you mean web?)` for an object that does not exist; nothing if the user may not list, or as kubectl. */
async function nameHint(work: HintedWork, resource: ApiResource, namespace: string | undefined, name: string): Promise<string> {
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
export async function withNameHint(
  work: HintedWork,
  error: ApiError,
  resource: ApiResource,
  namespace: string | undefined,
): Promise<ApiError> {
  const name = error.details?.name;
  if (error.reason !== 'NotFound' || name === undefined || name === '') return error;
  const hint = await nameHint(work, resource, namespace, name);
  return hint === '' ? error : new ApiError(error.code, error.reason, `${error.message}${hint}`, error.details);
}

/** The same for any error of an object that a command line names. */
export async function withObjectHint(work: HintedWork, error: unknown, { resource, namespace }: ObjectRef): Promise<unknown> {
  return error instanceof ApiError ? withNameHint(work, error, resource, namespace) : error;
}

/** A line about a namespace that does not exist; nothing if it does, if that cannot be read, or as kubectl. */
export async function namespaceHint(work: HintedWork): Promise<string> {
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
