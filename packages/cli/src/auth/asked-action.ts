/** The action that a command line names, `delete pods/web` or `get /metrics`, as access reviews ask for it. */

import type { QuestionSpec } from '@plat-dev/client/why';
import { bool, FlagError, type FlagValues, text } from '@plat-dev/lib/flags';
import { didYouMean } from '@plat-dev/lib/suggest';
import { askedServer } from '../discovery/api-groups.ts';
import { namespaceFlag } from '../objects/object-flags.ts';
import { isStock } from '../program.ts';
import type { Work } from '../work.ts';

export const actionFlags = {
  namespace: namespaceFlag,
  'all-namespaces': bool(false, 'Check in all namespaces.', { short: 'A' }),
  subresource: text('', 'Subresource to check, such as log or scale.', { value: 'NAME' }),
};
type ActionOptions = FlagValues<{ Asking: typeof actionFlags }>;

const resourceVerbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const rareVerbs = ['use', 'bind', 'escalate', 'impersonate', 'approve', 'sign', 'proxy', '*'];
/** Verbs of a plat server alone: to read the history of an object, and what admission did with it. */
export const platVerbs: readonly string[] = ['history', 'explain'];
const urlVerbs = ['get', 'put', 'post', 'head', 'options', 'delete', 'patch', '*'];

/** The verb, and a resource, a resource and a name, or a path. */
export function verbAndTarget(args: readonly string[], command: string): { verb: string; target: string } {
  const [verb, target, more] = args;
  if (verb === undefined || target === undefined) {
    throw new FlagError(`verb or resource missing. For example: ${command} create pods, ${command} get deployment/web`);
  }
  const named = more !== undefined && !target.includes('/') && args.length === 3 ? `${target}/${more}` : target;
  if (args.length > 3 || (more !== undefined && named === target)) throw new FlagError(`too many arguments: ${JSON.stringify(more)}`);
  return { verb, target: named };
}

/** The part of the spec of a review that names the action. */
export type ActionSpec = Pick<QuestionSpec<'AccessExplanation'>, 'resourceAttributes' | 'nonResourceAttributes'>;
export async function actionOf(work: Work, verb: string, target: string, options: ActionOptions): Promise<ActionSpec> {
  return target.startsWith('/') ? aboutPath(work, verb, target, options) : aboutResource(work, verb, target, options);
}

function aboutPath(work: Work, verb: string, path: string, options: ActionOptions): ActionSpec {
  if (options.subresource !== '') throw new FlagError('--subresource can not be used with NonResourceURL');
  checkVerb(work, verb, urlVerbs, []);
  return { nonResourceAttributes: { verb, path } };
}

async function aboutResource(work: Work, verb: string, target: string, options: ActionOptions): Promise<ActionSpec> {
  checkVerb(work, verb, resourceVerbs, isStock(work.io) ? rareVerbs : [...rareVerbs, ...platVerbs]);
  const [type = '', name, more] = target.split('/');
  if (type === '' || name === '' || more !== undefined)
    throw new FlagError(`${JSON.stringify(target)} is not of the form type or type/name`);
  const { resource, group, namespaced } = await named(work, type);
  warnOfScope(work, { resource, group, namespaced }, options);
  const namespace = options.allNamespaces || !namespaced ? '' : work.namespace;
  return {
    resourceAttributes: {
      verb,
      group,
      resource,
      ...(namespace !== '' && { namespace }),
      ...(options.subresource !== '' && { subresource: options.subresource }),
      ...(name !== undefined && { name }),
    },
  };
}
/** The stock client warns whether or not a namespace was named. */
function warnOfScope(work: Work, { resource, group, namespaced }: Asked, { namespace, allNamespaces }: ActionOptions): void {
  if (namespaced) return;
  if (!isStock(work.io) && namespace !== undefined) work.io.err(`Warning: ${resource} are cluster-scoped, -n has no effect\n`);
  if (isStock(work.io) && !allNamespaces)
    work.io.err(`Warning: resource '${resource}' is not namespace scoped${group === '' ? '' : ` in group '${group}'`}\n`);
}
interface Asked {
  readonly resource: string;
  readonly group: string;
  readonly namespaced: boolean;
}
/** Rules may name resources that are not served yet, so an unknown resource is still checked. */
async function named(work: Work, type: string): Promise<Asked> {
  if (type === '*' || type.startsWith('*.')) return { resource: '*', group: type.slice(2) || '*', namespaced: true };
  try {
    const { name, group, namespaced } = await work.discovery.find(type);
    return { resource: name, group, namespaced };
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes('resource type')) throw error;
    const [resource = '', ...rest] = type.split('.');
    const group = rest.join('.');
    const place = group === '' ? '' : ` in group '${group}'`;
    work.io.err(`Warning: ${isStock(work.io) ? `the server doesn't have a resource type '${resource}'${place}` : error.message}\n`);
    return { resource, group, namespaced: true };
  }
}
function checkVerb(work: Work, verb: string, usual: readonly string[], rare: readonly string[]): void {
  if (usual.includes(verb) || rare.includes(verb)) return;
  const unknown = isStock(work.io)
    ? `verb '${verb}' is not a known verb`
    : `${JSON.stringify(verb)} is not a standard verb${didYouMean(verb, usual)}`;
  work.io.err(`Warning: ${unknown}\n`);
}

/** Asks by creating an object, whose status is the answer. */
export function askServer<T>(work: Work, apiVersion: string, kind: string, resource: string, spec: object): Promise<T> {
  return askedServer(work).post<T>(`/apis/${apiVersion}/${resource}`, { kind, apiVersion, spec });
}
