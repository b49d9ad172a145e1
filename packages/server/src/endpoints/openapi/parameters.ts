/** The parameters of requests for resources. */
import { type ApiRelease, isAtLeast } from '@plat-dev/lib/version';
import type { MessageType } from '@plat-dev/schema/types';
import { resolve } from '@plat-dev/schema/types';
import type { Describe, Parameter } from './model.ts';

const query = (name: string, type: Parameter['type'], description: string): Parameter => ({ name, in: 'query', type, description });
const path = (name: string, description: string): Parameter => ({ name, in: 'path', type: 'string', description, required: true });

/** These two stand on nearly every path, and in the words of stock servers: recorded conversations hold them. */
export const namespaceParameter = path('namespace', 'object name and auth scope, such as for teams and projects');
export const nameParameter = (kind: string): Parameter => path('name', `name of the ${kind}`);
export const proxyPath = (): Parameter => path('path', 'The rest of the path, which is passed on to the proxied server.');
const prettyText = "If 'true', then the output is pretty printed.";
const pretty = query('pretty', 'string', prettyText);
const prettyWithDefault = query(
  'pretty',
  'string',
  `${prettyText} Defaults to 'false' unless the user-agent indicates a browser or command-line HTTP tool (curl and wget).`,
);
/** Later releases say what holds where nothing is asked for. */
export const prettyParameter = (release: ApiRelease): Parameter => (isAtLeast(release, '1.29') ? prettyWithDefault : pretty);

const select: readonly Parameter[] = [
  query(
    'fieldSelector',
    'string',
    'A selector to restrict the list of returned objects by their fields, such as metadata.name=web. Defaults to everything.',
  ),
  query(
    'labelSelector',
    'string',
    'A selector to restrict the list of returned objects by their labels, such as app=web,tier!=cache. Defaults to everything.',
  ),
  query(
    'limit',
    'integer',
    'The maximum number of objects in one answer. Where more exist, metadata.continue of the answer leads to the next chunk. Defaults to all.',
  ),
  query(
    'resourceVersion',
    'string',
    'The version of the data that the answer may be served from; a watch begins after it. 0 allows any version, and the default is the newest.',
  ),
  query(
    'resourceVersionMatch',
    'string',
    'How resourceVersion applies to a list: NotOlderThan or Exact. Only allowed together with resourceVersion.',
  ),
  query('timeoutSeconds', 'integer', 'Limits the duration of the call, in seconds. A watch ends then, whether or not there was activity.'),
];
const token = query(
  'continue',
  'string',
  'The value of metadata.continue of the previous chunk: the server returns the next one. The other parameters must stay the same.',
);

export const listParameters: readonly Parameter[] = [
  query(
    'allowWatchBookmarks',
    'boolean',
    'Requests BOOKMARK events in a watch, which carry only the resourceVersion that the watch has reached. Ignored for lists.',
  ),
  token,
  ...select,
  query(
    'watch',
    'boolean',
    'Watch for changes to the described resources: the answer is a stream of events that begins after resourceVersion, instead of a list.',
  ),
];

/** Of a get or list of history, where it is served. */
export const historyParameters: readonly Parameter[] = [
  query(
    'history',
    'string',
    'With true or full the answer is an ObjectHistory: the kept versions, newest first, each with who made it and what it changed; with full, also the object. Needs the verb history.',
  ),
  query('since', 'string', 'Of history only versions from this time on (RFC 3339).'),
  query('until', 'string', 'Of history only versions up to this time (RFC 3339).'),
  query('user', 'string', 'Of history only versions that this user made.'),
  query('manager', 'string', 'Of history only versions that this field manager made.'),
];
/** A get takes those of lists that history has, too. */
export const getHistoryParameters: readonly Parameter[] = [
  token,
  ...historyParameters,
  ...select.filter(({ name }) => name === 'limit' || name.startsWith('resourceVersion')),
];

const dryRun = query('dryRun', 'string', 'With the value All the request passes admission and validation, and nothing is persisted.');
const fieldManager = query(
  'fieldManager',
  'string',
  'The name under which the written fields are owned, at most 128 printable characters. Required to apply; otherwise defaults to the start of the user agent.',
);
const fieldValidation = query(
  'fieldValidation',
  'string',
  'What to do about unknown and duplicate fields: Ignore drops them, Warn drops them with a warning, Strict refuses the request.',
);
const force = query(
  'force',
  'boolean',
  'Applying takes over fields that other managers own instead of failing with a conflict. Only allowed with apply patches.',
);

/**
 * Clients look here for what the server does unasked: one that finds `fieldValidation` no longer validates fields itself, and some
 * of those (Helm 3.9) do not send it either. So it is published only with the gate, as by a stock server.
 */
export const writeParameters = (validatesFields: boolean): readonly Parameter[] =>
  validatesFields ? [dryRun, fieldManager, fieldValidation] : [dryRun, fieldManager];
export const patchParameters = (validatesFields: boolean): readonly Parameter[] => [...writeParameters(validatesFields), force];

const deletion: readonly Parameter[] = [
  query(
    'gracePeriodSeconds',
    'integer',
    'Seconds that the object has for an orderly end. 0 deletes at once; the default depends on the kind, and is at once for most.',
  ),
  query(
    'orphanDependents',
    'boolean',
    'Deprecated, use propagationPolicy: whether dependent objects stay behind without their owner. Not allowed together with it.',
  ),
  query(
    'propagationPolicy',
    'string',
    'What happens to dependent objects: Orphan leaves them, Background deletes them afterwards, Foreground deletes them first.',
  ),
];
export const deleteParameters: readonly Parameter[] = [dryRun, ...deletion];
export const deleteCollectionParameters: readonly Parameter[] = [token, dryRun, ...select, ...deletion];

const scalars: Readonly<Record<string, Parameter['type']>> = { bool: 'boolean', int32: 'integer', int64: 'integer' };

/** Options of tunnels and logs, which come in the query. */
export function optionParameters(options: MessageType, describe: Describe): Parameter[] {
  return options.ordered
    .filter((field) => field.name !== 'kind' && field.name !== 'apiVersion')
    .map((field) => {
      const type = resolve(field.type);
      const plain = type.node === 'scalar' ? scalars[type.name] : undefined;
      return query(field.name, plain ?? 'string', describe(options.name, field.name) ?? '');
    });
}
