/** Which `plat why` explains an error of the server, as far as its Status says. */
import type { QuestionSpec } from '@plat-dev/client/why';
import type { ApiError } from '@plat-dev/meta/errors';
import type { ObjectRef } from '../objects/object-ref.ts';
import { noFlags, type RepeatedFlags, sameCaller } from '../terminal/repeated-flags.ts';
import { shellWord } from '../terminal/shell-word.ts';

/** Undefined where no command explains it. `flags`: those of the command that failed. */
export function whyHint(error: ApiError, flags: RepeatedFlags = noFlags): string | undefined {
  const othersQuestion = administratorsQuestion(error);
  if (othersQuestion !== undefined) return `ask an administrator to run \`${othersQuestion}\``;
  const command = whyCommand(error, flags);
  return command === undefined ? undefined : `\`${command}\` explains it`;
}

function whyCommand(error: ApiError, flags: RepeatedFlags): string | undefined {
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
  return `${deniedQuestion({ verb, group, resource, subresource, namespace, name: details?.name })}${caller}`;
}

type Action = NonNullable<QuestionSpec<'AccessExplanation'>['resourceAttributes']>;
/** The command line that asks about a request. */
export function deniedQuestion({ verb = '', group = '', resource = '', subresource = '', namespace = '', name = '' }: Action): string {
  const type = group === '' ? resource : `${resource}.${group}`;
  const scope = [...(subresource === '' ? [] : ['--subresource', subresource]), ...(namespace === '' ? ['-A'] : ['-n', namespace])];
  return ['plat why denied', ...[verb, name === '' ? type : `${type}/${name}`, ...scope].map(shellWord)].join(' ');
}

/** A refusal of the server with the question that it did not answer; `as`: the user whom it is about, unless the one who asked. */
interface RefusedQuestion {
  readonly question?: { readonly command: string; readonly as: string | undefined };
}
export const withQuestion = (error: unknown, question: RefusedQuestion['question']): unknown =>
  error instanceof Error ? Object.assign(error, { question }) : error;

/** Who may not ask cannot ask about that either: another one has to. Undefined for refusals of other requests. */
function administratorsQuestion(error: ApiError & RefusedQuestion): string | undefined {
  const [, , , , group = ''] = resourceRefusal.exec(error.message) ?? [];
  if (error.code !== 403 || !group.startsWith('explain.')) return undefined;
  const [, user = ''] = /\bUser "([^"]+)" cannot /.exec(error.message) ?? [];
  const { command = denied(error, noFlags), as = user } = error.question ?? {};
  return `${command} --as=${shellWord(as)}`;
}
