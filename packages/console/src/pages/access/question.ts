/** The question of the page, as its URL has it: whose rights, and which action. */
import type { Kind } from '../../api/kinds.ts';
import { type Action, type Person, personOf } from './rbac.ts';

/** Undefined: the user who is logged in. */
export function personIn(query: URLSearchParams): Person | undefined {
  const name = query.get('user') ?? '';
  return name === '' ? undefined : personOf(name, listOf(query.get('groups')));
}

const listOf = (text: string | null): string[] => (text ?? '').split(/[\s,]+/).filter(Boolean);

/** Undefined: nothing was asked. */
export function actionIn(query: URLSearchParams, namespace: string | undefined): Action | undefined {
  const part = (name: string): string => query.get(name) ?? '';
  const verb = part('verb');
  if (verb === '') return undefined;
  if (part('path') !== '') return { verb, path: part('path') };
  if (part('resource') === '') return undefined;
  const { group, resource, subresource, name } = {
    group: part('group'),
    resource: part('resource'),
    subresource: part('subresource'),
    name: part('name'),
  };
  return { verb, group, resource, subresource, name, namespace: namespace ?? '' };
}

/** Parameters of the URL for an action on what a user typed: `pods`, `pods/log`, `deployments.apps`, `/metrics`. */
export function actionQuery(verb: string, target: string, name: string, kinds: readonly Kind[]): Readonly<Record<string, string>> {
  const wanted = target.trim();
  const none = { path: '', group: '', resource: '', subresource: '', name: '' };
  if (wanted.startsWith('/')) return { ...none, verb, path: wanted };
  const [typed = '', subresource = ''] = wanted.split('/', 2);
  const [resource = '', ...groupParts] = typed.split('.');
  const typedGroup = groupParts.join('.');
  const kind =
    kinds.find((one) => one.resource === resource && (typedGroup === '' || one.group === typedGroup)) ??
    kinds.find((one) => one.shortNames.includes(typed) || one.kind.toLowerCase() === typed.toLowerCase());
  return { ...none, verb, group: kind?.group ?? typedGroup, resource: kind?.resource ?? resource, subresource, name: name.trim() };
}

/** `delete pods web in team` */
export function actionText(action: Action): string {
  if ('path' in action) return `${action.verb} ${action.path}`;
  const { verb, group, resource, subresource, name, namespace } = action;
  const type = `${resource}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`;
  return [verb, type, name, namespace === '' ? '' : `in ${namespace}`].filter(Boolean).join(' ');
}

/** What the form shows for the action of the URL. */
export function targetText(query: URLSearchParams): string {
  const [path, resource, group, subresource] = ['path', 'resource', 'group', 'subresource'].map((name) => query.get(name) ?? '');
  return path || `${resource}${group ? `.${group}` : ''}${subresource ? `/${subresource}` : ''}`;
}
