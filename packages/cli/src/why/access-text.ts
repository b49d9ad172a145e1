/** Bindings, roles and subjects in words. */
import type { AccessExplanation } from '@plat-dev/kinds/explain/schema/v1alpha1';
import type { Subject } from '@plat-dev/kinds/rbac/schema/v1';
import { own } from '@plat-dev/lib/own';
import { printable } from '../output/print-table.ts';

type Grant = NonNullable<NonNullable<AccessExplanation['status']>['nearest']>[number];

const lackTexts: Readonly<Record<string, string>> = {
  subject: 'it is bound to others',
  role: 'the role does not exist',
  verb: 'its rule lacks the verb',
  apiGroup: 'its rule is for another API group',
  resource: 'its rule is for another resource',
  resourceName: 'its rule is for other names',
  path: 'its rule is for another path',
};

/** `RoleBinding team/readers of ClusterRole view: its rule lacks the verb (get,list pods)`. */
export function grantText({ binding, role, rule, lacks = [] }: Grant): string {
  const why = lacks.map((lack) => own(lackTexts, lack) ?? lack).join(', ');
  const head = `${placeText(binding)} of ${placeText(role)}`;
  return printable(`${head}${why === '' ? '' : `: ${why}`}${rule == null ? '' : ` (${ruleText(rule)})`}`);
}

export const placeText = ({ kind = '', name = '', namespace = '' }: Grant['binding']): string =>
  printable(`${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`);

/** `User alice`, `ServiceAccount build/ci`. */
export const subjectText = ({ kind = '', name = '', namespace = '' }: Subject): string => placeText({ kind, name, namespace });

function ruleText({ verbs = [], resources = [], resourceNames = [], nonResourceURLs = [] }: NonNullable<Grant['rule']>): string {
  const names = resourceNames.length === 0 ? '' : ` ${resourceNames.join(',')}`;
  return `${verbs.join(',')} ${[...resources, ...nonResourceURLs].join(',')}${names}`;
}
