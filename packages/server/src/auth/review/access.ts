/** Answers to access reviews: whether a subject may do something, and what the caller may do. Invalid reviews throw `invalid`. */

import type {
  NonResourceAttributes,
  ResourceAttributes,
  SubjectAccessReviewSpec,
  SubjectAccessReviewStatus,
  SubjectRulesReviewStatus,
} from '@plat-dev/kinds/authorization/schema/v1';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { invalidText, structText } from '@plat-dev/kinds/validation/go-text';
import { cut } from '@plat-dev/lib/message-values';
import { badRequest, invalidReview } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import type { Attributes, Authorizer, Decision, User } from '../types.ts';
import { checkSelectors, readSelectors } from './selectors.ts';

/** The common fields of the reviews; all of them are optional in a request. */
export interface AccessReview {
  readonly metadata?: ApiObject['metadata'];
  readonly spec?: Partial<SubjectAccessReviewSpec>;
}

export function attributesOf(user: User, spec: Partial<SubjectAccessReviewSpec>): Attributes {
  const resource: Partial<ResourceAttributes> | undefined = spec.resourceAttributes;
  const path: Partial<NonResourceAttributes> | undefined = spec.nonResourceAttributes;
  return {
    user,
    verb: (resource ?? path)?.verb ?? '',
    group: resource?.group ?? '',
    version: resource?.version ?? '',
    resource: resource?.resource ?? '',
    subresource: resource?.subresource ?? '',
    name: resource?.name ?? '',
    namespace: resource?.namespace ?? '',
    path: path?.path ?? '',
    resourceRequest: resource !== undefined,
    selectors: readSelectors(resource).selectors,
  };
}

const specPath = Path.of('spec');

/** The requested path as errors show it. */
const pathText = ({ path, verb }: Partial<NonResourceAttributes>): string =>
  structText('authorization.NonResourceAttributes', { Path: path, Verb: verb });

export function checkQuestion(spec: Partial<SubjectAccessReviewSpec>, errors: FieldErrors): void {
  if (spec.resourceAttributes !== undefined && spec.nonResourceAttributes !== undefined) {
    const why = 'cannot be specified in combination with resourceAttributes';
    invalidText(errors, specPath.child('nonResourceAttributes'), pathText(spec.nonResourceAttributes), why);
  }
  if (spec.resourceAttributes === undefined && spec.nonResourceAttributes === undefined) {
    const path = specPath.child('resourceAttributes');
    errors.invalid(path, 'null', 'exactly one of nonResourceAttributes or resourceAttributes must be specified');
  }
  checkSelectors(spec.resourceAttributes, errors);
}

/** Limits on the groups and extra values of a subject in a review: authorizers look at each of them. */
export const MAX_REVIEWED = 5_000;

export function checkSubject(spec: Partial<SubjectAccessReviewSpec>, errors: FieldErrors): void {
  const { groups = [], extra = {} } = spec;
  if (groups.length > MAX_REVIEWED) errors.tooMany(specPath.child('groups'), groups.length, MAX_REVIEWED);
  let values = 0;
  for (const key in extra) values += Math.max(1, extra[key]?.length ?? 0);
  if (values > MAX_REVIEWED) errors.tooMany(specPath.child('extra'), values, MAX_REVIEWED);
  if ((spec.user ?? '') === '' && (spec.groups?.length ?? 0) === 0) {
    errors.invalid(specPath.child('user'), '', 'at least one of user or group must be specified');
  }
}

/** Reviews are not stored, so they have no name and no labels. Fields that the server sets itself are allowed. */
export function checkMetadata(review: AccessReview, mayHave: readonly string[], errors: FieldErrors): void {
  for (const [key, value] of Object.entries(review.metadata ?? {})) {
    if (key === 'managedFields' || value === undefined || value === null || value === '' || mayHave.includes(key)) continue;
    errors.invalid(Path.of('metadata'), review.metadata, 'must be empty');
    return;
  }
}

function refuse(identity: Identity, kind: string, errors: FieldErrors): void {
  if (!errors.empty) throw invalidReview({ group: groupName(identity, 'authorization'), resource: kind }, errors.list);
}

function statusOf(decision: Decision): SubjectAccessReviewStatus {
  return {
    allowed: decision.decision === 'allow',
    ...(decision.decision === 'deny' && { denied: true }),
    ...(decision.reason !== '' && { reason: cut(decision.reason) }),
    ...(decision.error !== undefined && decision.error !== '' && { evaluationError: cut(decision.error) }),
  };
}

/** `spec` passed the checks. */
async function answer(authorizer: Authorizer, user: User, spec: Partial<SubjectAccessReviewSpec>): Promise<SubjectAccessReviewStatus> {
  const decision = await authorizer.authorize(attributesOf(user, spec));
  const error = [decision.error ?? '', readSelectors(spec.resourceAttributes).error ?? ''].filter((text) => text !== '').join(', ');
  return statusOf({ ...decision, error });
}

function subjectOf(spec: Partial<SubjectAccessReviewSpec>): User {
  const { user = '', uid, groups, extra } = spec;
  return { name: user, ...(uid && { uid }), groups: groups ?? [], ...(extra && { extra }) };
}

export async function reviewSubjectAccess(
  identity: Identity,
  authorizer: Authorizer,
  review: AccessReview,
): Promise<SubjectAccessReviewStatus> {
  const spec = review.spec ?? {};
  const errors = new FieldErrors();
  checkQuestion(spec, errors);
  checkSubject(spec, errors);
  checkMetadata(review, [], errors);
  refuse(identity, 'SubjectAccessReview', errors);
  return answer(authorizer, subjectOf(spec), spec);
}

/** The same for the namespace of the request. */
export async function reviewLocalSubjectAccess(
  identity: Identity,
  authorizer: Authorizer,
  namespace: string,
  review: AccessReview,
): Promise<SubjectAccessReviewStatus> {
  const spec = review.spec ?? {};
  const errors = new FieldErrors();
  checkQuestion(spec, errors);
  checkSubject(spec, errors);
  checkMetadata(review, ['namespace'], errors);
  const resourceAttributes: Partial<ResourceAttributes> | undefined = spec.resourceAttributes;
  if (resourceAttributes !== undefined && (resourceAttributes.namespace ?? '') !== namespace) {
    errors.invalid(
      specPath.child('resourceAttributes').child('namespace'),
      resourceAttributes.namespace ?? '',
      'must match metadata.namespace',
    );
  }
  if (spec.nonResourceAttributes !== undefined) {
    const why = 'disallowed on this kind of request';
    invalidText(errors, specPath.child('nonResourceAttributes'), pathText(spec.nonResourceAttributes), why);
  }
  refuse(identity, 'LocalSubjectAccessReview', errors);
  return answer(authorizer, subjectOf(spec), spec);
}

export async function reviewSelfAccess(
  identity: Identity,
  authorizer: Authorizer,
  user: User,
  review: AccessReview,
): Promise<SubjectAccessReviewStatus> {
  const spec = review.spec ?? {};
  const errors = new FieldErrors();
  checkQuestion(spec, errors);
  checkMetadata(review, [], errors);
  refuse(identity, 'SelfSubjectAccessReview', errors);
  return answer(authorizer, user, spec);
}

export async function reviewSelfRules(authorizer: Authorizer, user: User, namespace: string): Promise<SubjectRulesReviewStatus> {
  if (namespace === '') throw badRequest('no namespace on request');
  const rules = await authorizer.rulesFor(user, namespace);
  return {
    resourceRules: rules.resourceRules.map(({ verbs, apiGroups, resources, resourceNames }) => ({
      verbs: [...verbs],
      apiGroups: [...apiGroups],
      resources: [...resources],
      ...(resourceNames !== undefined && { resourceNames: [...resourceNames] }),
    })),
    nonResourceRules: rules.nonResourceRules.map(({ verbs, nonResourceURLs }) => ({
      verbs: [...verbs],
      nonResourceURLs: [...nonResourceURLs],
    })),
    incomplete: rules.incomplete,
    ...(rules.error !== undefined && rules.error !== '' && { evaluationError: rules.error }),
  };
}
