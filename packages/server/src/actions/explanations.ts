/** Questions why: they are asked by creating an object, whose status is the answer. Nothing is stored. */

import type { ResourceAttributes, SubjectAccessReviewSpec } from '@plat-dev/kinds/authorization/schema/v1';
import type { AccessExplanation, SubjectSearch } from '@plat-dev/kinds/explain/schema/v1alpha1';
import { explainGroup } from '@plat-dev/kinds/explain-kinds';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { inSlices, Slices } from '@plat-dev/lib/slices';
import { forbidden, invalidReview } from '@plat-dev/meta/errors';
import { FieldErrors } from '@plat-dev/meta/field';
import { groupName } from '@plat-dev/meta/identity';
import { forbiddenMessage } from '../auth/authz/refusal.ts';
import { type ExplanationSources, explainAccess, isAllowed, listRights } from '../auth/explain/access-explanation.ts';
import { allowedSubjects } from '../auth/explain/subject-search.ts';
import { type AccessReview, attributesOf, checkMetadata, checkQuestion, checkSubject } from '../auth/review/access.ts';
import type { Attributes, User } from '../auth/types.ts';
import type { Action, ActionRequest } from '../services.ts';

export function explanationActions(sources: ExplanationSources): [string, Action][] {
  return [
    ['explain/accessexplanations', answering((review, request) => accessExplanation(sources, review, request))],
    ['explain/subjectsearches', answering((review, request) => subjectSearch(sources, review, request))],
  ];
}

function answering(answer: (review: AccessReview, request: ActionRequest) => Promise<object>): Action {
  return async (request) => {
    const body = request.body as ApiObject & AccessReview;
    const { resource } = request.write;
    return { status: 201, object: { ...body, status: await answer(body, request) } as ApiObject, schema: resource.schema };
  };
}

async function accessExplanation(
  sources: ExplanationSources,
  review: AccessReview,
  { ctx, write }: ActionRequest,
): Promise<NonNullable<AccessExplanation['status']>> {
  const spec = review.spec ?? {};
  const isOther = (spec.user ?? '') !== '' || (spec.groups?.length ?? 0) > 0;
  check(sources, 'AccessExplanation', review, isOther);
  if (isOther) await checkMayReview(sources, write.user);
  const user: User = isOther ? { name: spec.user ?? '', groups: spec.groups ?? [] } : write.user;
  const explanation = await explainAccess(sources, attributesOf(user, spec), write.user, ctx.slices() ?? new Slices(() => ctx.ended));
  const { decision, ...rest } = explanation;
  return { allowed: decision === 'allow', ...rest } as never;
}

async function subjectSearch(
  sources: ExplanationSources,
  review: AccessReview,
  { ctx, write }: ActionRequest,
): Promise<NonNullable<SubjectSearch['status']>> {
  check(sources, 'SubjectSearch', review, false);
  const asked = attributesOf({ name: '', groups: [] }, review.spec ?? {});
  const mayList = await listRights(sources, write.user, asked.namespace);
  const slices = ctx.slices() ?? new Slices(() => ctx.ended);
  const subjects = await inSlices(allowedSubjects(sources.identity, sources.live, asked, mayList), slices);
  const incomplete = leftOut(sources, asked, mayList);
  return { subjects, ...(incomplete.length > 0 && { incomplete }) } as never;
}

/** What the answer cannot hold: the caller must not take it for the whole truth. */
function leftOut(
  { authorizers }: ExplanationSources,
  { namespace }: Attributes,
  mayList: Awaited<ReturnType<typeof listRights>>,
): string[] {
  const unlisted = [
    ...(['clusterroles', 'clusterrolebindings'] as const).filter((resource) => !mayList(resource, '')),
    ...(namespace === '' ? [] : (['roles', 'rolebindings'] as const).filter((resource) => !mayList(resource, namespace))),
  ];
  const others = authorizers.map(({ name }) => name).filter((name) => name !== 'superuser' && name !== 'RBAC');
  return [
    ...unlisted.map((resource) => `you may not list ${resource}`),
    ...others.map((name) => `the authorizer ${name} has no list of subjects`),
  ];
}

function check({ identity }: ExplanationSources, kind: string, review: AccessReview, isOther: boolean): void {
  const errors = new FieldErrors();
  const spec: Partial<SubjectAccessReviewSpec> = review.spec ?? {};
  checkQuestion(spec, errors);
  if (isOther) checkSubject(spec, errors);
  checkMetadata(review, [], errors);
  if (!errors.empty) throw invalidReview({ group: groupName(identity, explainGroup), resource: kind }, errors.list);
}

/** Questions about others need the right that the review of their access needs. */
async function checkMayReview({ identity, authorizers }: ExplanationSources, user: User): Promise<void> {
  const resourceAttributes: ResourceAttributes = {
    verb: 'create',
    group: groupName(identity, 'authorization'),
    version: 'v1',
    resource: 'subjectaccessreviews',
  };
  const asked = attributesOf(user, { resourceAttributes });
  if (await isAllowed(authorizers, asked)) return;
  const { group, resource } = asked;
  throw forbidden({ group, resource }, '', forbiddenMessage(asked, ''));
}
