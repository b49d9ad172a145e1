/** Which `plat why` explains an error of the server, as far as its Status says. */
import type { ApiError } from '@plat-dev/meta/errors';
import { shellWord } from '../terminal/shell-word.ts';

/** Undefined where no command explains it. */
export function whyCommand(error: ApiError): string | undefined {
  if (error.code === 403 && !error.details?.causes?.some(({ reason }) => reason === 'NamespaceTerminating'))
    return denied(error) ?? 'plat why rejected -f FILE';
  return /^admission webhook "/.test(error.message) ? 'plat why rejected -f FILE' : undefined;
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
