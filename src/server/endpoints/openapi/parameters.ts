/** The parameters of requests for resources. */
import type { MessageType } from '../../../schema/types.ts';
import { resolve } from '../../../schema/types.ts';
import type { Parameter } from './model.ts';

const query = (name: string, type: Parameter['type'], description: string): Parameter => ({ name, in: 'query', type, description });
const path = (name: string, description: string): Parameter => ({ name, in: 'path', type: 'string', description, required: true });

export const namespaceParameter = path('namespace', 'object name and auth scope, such as for teams and projects');
export const nameParameter = (kind: string): Parameter => path('name', `name of the ${kind}`);
export const proxyPath = (): Parameter => path('path', 'path to the resource');
export const pretty = query('pretty', 'string', "If 'true', then the output is pretty printed.");

const select: readonly Parameter[] = [
  query('fieldSelector', 'string', 'A selector to restrict the list by the fields of its objects.'),
  query('labelSelector', 'string', 'A selector to restrict the list by the labels of its objects.'),
  query('limit', 'integer', 'The most objects of one answer; where more exist, the answer says how to continue.'),
  query('resourceVersion', 'string', 'The version of the data that the answer may be made from.'),
  query('resourceVersionMatch', 'string', 'How the version is meant: NotOlderThan or Exact.'),
  query('timeoutSeconds', 'integer', 'How long a watch lasts, whatever happens.'),
];
const token = query('continue', 'string', 'Where the next part of a list begins, as the part before it said.');

export const listParameters: readonly Parameter[] = [
  query('allowWatchBookmarks', 'boolean', 'Ask a watch for events that only tell the version it has reached.'),
  token,
  ...select,
  query('watch', 'boolean', 'Watch for changes instead of listing.'),
];

const dryRun = query('dryRun', 'string', 'All: go through every step, but store nothing.');
const fieldManager = query('fieldManager', 'string', 'The name of the actor whose fields these are, 128 printable characters at most.');
const fieldValidation = query('fieldValidation', 'string', 'What unknown and repeated fields lead to: Ignore, Warn or Strict.');
const force = query('force', 'boolean', 'Take fields over from other actors when applying.');

/** A parameter is published only while the server heeds it: clients look here to learn what it can do. */
export const writeParameters = (validation: boolean): Parameter[] => [dryRun, fieldManager, ...(validation ? [fieldValidation] : [])];
export const patchParameters = (validation: boolean): Parameter[] => [...writeParameters(validation), force];

const deletion: readonly Parameter[] = [
  query('gracePeriodSeconds', 'integer', 'Seconds before the object is deleted; zero is at once.'),
  query('orphanDependents', 'boolean', 'Leave dependents alone. Use propagationPolicy instead.'),
  query('propagationPolicy', 'string', 'What happens to dependents: Orphan, Background or Foreground.'),
];
export const deleteParameters: readonly Parameter[] = [dryRun, ...deletion];
export const deleteCollectionParameters: readonly Parameter[] = [token, dryRun, ...select, ...deletion];

const scalars: Readonly<Record<string, Parameter['type']>> = { bool: 'boolean', int32: 'integer', int64: 'integer' };

/** Options of tunnels and logs, which come in the query. */
export function optionParameters(options: MessageType): Parameter[] {
  return options.ordered
    .filter((field) => field.name !== 'kind' && field.name !== 'apiVersion')
    .map((field) => {
      const type = resolve(field.type);
      return query(field.name, type.node === 'scalar' ? (scalars[type.name] ?? 'string') : 'string', `The ${field.name} of the request.`);
    });
}
