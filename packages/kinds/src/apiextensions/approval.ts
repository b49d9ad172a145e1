/** Groups under the server's own domains need an approval annotation. */

import { own } from '@plat-dev/lib/own';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import type { Identity } from '@plat-dev/meta/identity';
import type { CustomResourceDefinition, CustomResourceDefinitionCondition } from './schema/v1.ts';

type State = 'missing' | 'approved' | 'bypassed' | 'invalid';
const SEE = 'see https://github.com/kubernetes/enhancements/pull/1111';

const annotationOf = (identity: Identity): string => `api-approved.${identity.domain}`;

function isProtected(group: string, { groupSuffix, domain }: Identity): boolean {
  return [groupSuffix, domain].some((suffix) => group === suffix || group.endsWith(`.${suffix}`));
}

function stateOf({ metadata }: CustomResourceDefinition, identity: Identity): State {
  const text = own(metadata.annotations, annotationOf(identity)) ?? '';
  if (text === '') return 'missing';
  if (text.startsWith('unapproved')) return 'bypassed';
  return URL.canParse(text) && new URL(text).host !== '' ? 'approved' : 'invalid';
}

/** The approval condition of a definition; undefined if it needs none. */
export function approvalCondition(
  definition: CustomResourceDefinition,
  identity: Identity,
): Omit<CustomResourceDefinitionCondition, 'lastTransitionTime'> | undefined {
  if (!isProtected(definition.spec.group, identity)) return undefined;
  const name = annotationOf(identity);
  const text = own(definition.metadata.annotations, name) ?? '';
  const type = `${identity.word.charAt(0).toUpperCase()}${identity.word.slice(1)}APIApprovalPolicyConformant`;
  const message = `protected groups must have approval annotation ${JSON.stringify(name)}`;
  switch (stateOf(definition, identity)) {
    case 'missing':
      return { type, status: 'False', reason: 'MissingAnnotation', message: `${message}, ${SEE}` };
    case 'approved':
      return { type, status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${text}` };
    case 'bypassed':
      return { type, status: 'False', reason: 'UnapprovedAnnotation', message: `not approved: ${JSON.stringify(text)}` };
    case 'invalid':
      return {
        type,
        status: 'False',
        reason: 'InvalidAnnotation',
        message: `${message} with either a URL or a reason starting with "unapproved", ${SEE}`,
      };
  }
}

export function validateApproval(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
  errors: FieldErrors,
  identity: Identity,
): void {
  if (!isProtected(definition.spec.group, identity)) return;
  const state = stateOf(definition, identity);
  if (old !== undefined && stateOf(old, identity) === state) return;
  const name = annotationOf(identity);
  const at = Path.of('metadata', 'annotations').key(name);
  const message = `protected groups must have approval annotation ${JSON.stringify(name)}`;
  if (state === 'missing') errors.required(at, `${message}, ${SEE}`);
  if (state === 'invalid')
    errors.invalid(
      at,
      own(definition.metadata.annotations, name),
      `${message} with either a URL or a reason starting with "unapproved", ${SEE}`,
    );
}
