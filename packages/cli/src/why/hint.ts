/** Which `plat why` explains an error of the server, as far as its Status says. */
import type { ApiError } from '@plat-dev/meta/errors';
import type { ObjectRef } from '../objects/object-ref.ts';
import { shellWord } from '../terminal/shell-word.ts';

/** Undefined where no command explains it. */
export function whyCommand(error: ApiError): string | undefined {
  const terminating = error.details?.causes?.find(({ reason }) => reason === 'NamespaceTerminating')?.message;
  const [, namespace] = /^namespace (\S+) is being terminated$/.exec(terminating ?? '') ?? [];
  if (namespace !== undefined) return `plat why not deleted namespaces/${shellWord(namespace)}`;
  if (error.code === 403) return denied(error) ?? 'plat why rejected -f FILE';
  return /^admission webhook "/.test(error.message) ? 'plat why rejected -f FILE' : undefined;
}

/** The question about an object whose deletion does not end. */
export function whyNotDeleted({ resource, namespace, name }: ObjectRef): string {
  const type = resource.group === '' ? resource.name : `${resource.name}.${resource.group}`;
  return `plat why not deleted ${shellWord(`${type}/${name}`)}${namespace === undefined ? '' : ` -n ${shellWord(namespace)}`}`;
}

const resourceRefusal = /\bcannot (\S+) resource "([^"/]+)(?:\/([^"]+))?" in API group "([^"]*)"(?: in the namespace "([^"]+)")?/;
const pathRefusal = /\bcannot (\S+) path "([^"]+)"/;

/** The question about a request that no authorizer allowed; undefined if something else refused it. */
function denied({ message, details }: ApiError): string | undefined {
  const [, pathVerb, path] = pathRefusal.exec(message) ?? [];
  if (path !== undefined) return `plat why denied ${pathVerb} ${shellWord(path)}`;
  const [, verb, resource, subresource, group, namespace] = resourceRefusal.exec(message) ?? [];
  if (resource === undefined) return undefined;
  const type = group === '' ? resource : `${resource}.${group}`;
  const name = details?.name ? `/${details.name}` : '';
  const flags = [
    ...(subresource === undefined ? [] : ['--subresource', subresource]),
    ...(namespace === undefined ? ['-A'] : ['-n', namespace]),
  ];
  return ['plat why denied', verb, ...[`${type}${name}`, ...flags].map(shellWord)].join(' ');
}
