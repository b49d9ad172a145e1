/** Which `plat why` explains an error of the server, as far as its Status says. */
import type { ApiError } from '@plat-dev/meta/errors';
import type { ObjectRef } from '../objects/object-ref.ts';
import { noFlags, type RepeatedFlags, sameCaller } from '../terminal/repeated-flags.ts';
import { shellWord } from '../terminal/shell-word.ts';

/** Undefined where no command explains it. `flags`: those of the command that failed. */
export function whyCommand(error: ApiError, flags: RepeatedFlags = noFlags): string | undefined {
  const terminating = error.details?.causes?.find(({ reason }) => reason === 'NamespaceTerminating')?.message;
  const [, namespace] = /^namespace (\S+) is being terminated$/.exec(terminating ?? '') ?? [];
  if (namespace !== undefined) return `plat why not deleted namespaces/${shellWord(namespace)}${sameCaller(flags)}`;
  const rejected = `plat why rejected -f FILE${flags.namespace}${sameCaller(flags)}`;
  if (error.code === 403) return denied(error, flags) ?? rejected;
  return /^admission webhook "/.test(error.message) ? rejected : undefined;
}

/** The question about an object whose deletion does not end. */
export function whyNotDeleted({ resource, namespace, name }: ObjectRef, flags?: RepeatedFlags): string {
  const type = resource.group === '' ? resource.name : `${resource.name}.${resource.group}`;
  return `plat why not deleted ${shellWord(`${type}/${name}`)}${namespace === undefined ? '' : ` -n ${shellWord(namespace)}`}${sameCaller(flags)}`;
}

const resourceRefusal = /\bcannot (\S+) resource "([^"/]+)(?:\/([^"]+))?" in API group "([^"]*)"(?: in the namespace "([^"]+)")?/;
const pathRefusal = /\bcannot (\S+) path "([^"]+)"/;

/** The question about a request that no authorizer allowed; undefined if something else refused it. */
function denied({ message, details }: ApiError, { server, impersonation, as }: RepeatedFlags): string | undefined {
  // What the user lacks to act as another one, or to ask about them, is no question about the other one.
  const caller = as !== undefined && message.includes(`User ${JSON.stringify(as)} cannot `) ? `${server}${impersonation}` : server;
  const [, pathVerb, path] = pathRefusal.exec(message) ?? [];
  if (path !== undefined) return `plat why denied ${pathVerb} ${shellWord(path)}${caller}`;
  const [, verb, resource, subresource, group, namespace] = resourceRefusal.exec(message) ?? [];
  if (resource === undefined) return undefined;
  const type = group === '' ? resource : `${resource}.${group}`;
  const name = details?.name ? `/${details.name}` : '';
  const scope = [
    ...(subresource === undefined ? [] : ['--subresource', subresource]),
    ...(namespace === undefined ? ['-A'] : ['-n', namespace]),
  ];
  return `${['plat why denied', verb, ...[`${type}${name}`, ...scope].map(shellWord)].join(' ')}${caller}`;
}
