/** Questions why: they are asked by creating an object, whose status is the answer. Nothing is stored. */

import type { ResourceAttributes, SubjectAccessReviewSpec } from '@plat-dev/kinds/authorization/schema/v1';
import type { RefusalSearch } from '@plat-dev/kinds/explain/schema/refusals';
import type { SlowRequestSearch } from '@plat-dev/kinds/explain/schema/slow-requests';
import type { AccessExplanation, SubjectSearch } from '@plat-dev/kinds/explain/schema/v1alpha1';
import { explainGroup } from '@plat-dev/kinds/explain-kinds';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { inSlices, Slices } from '@plat-dev/lib/slices';
import { formatTime } from '@plat-dev/lib/time';
import { forbidden, invalidReview } from '@plat-dev/meta/errors';
import { FieldErrors } from '@plat-dev/meta/field';
import { groupName } from '@plat-dev/meta/identity';
import { forbiddenMessage } from '../auth/authz/refusal.ts';
import { type ExplanationSources, explainAccess, isAllowed, listRights } from '../auth/explain/access-explanation.ts';
import type { RefusalLog, RefusedAction } from '../auth/explain/refusal-log.ts';
import { allowedSubjects } from '../auth/explain/subject-search.ts';
import { type AccessReview, attributesOf, checkMetadata, checkQuestion, checkSubject } from '../auth/review/access.ts';
import type { Attributes, User } from '../auth/types.ts';
import type { Action, ActionRequest } from '../services.ts';
import type { SlowRequests } from '../slow-requests.ts';

export function explanationActions(sources: ExplanationSources, refusals: RefusalLog, slow: SlowRequests): [string, Action][] {
  return [
    ['explain/accessexplanations', answering((review, request) => accessExplanation(sources, review, request))],
    ['explain/refusalsearches', answering((review, request) => refusalSearch(sources, refusals, review as RefusalReview, request))],
    ['explain/slowrequestsearches', answering((review, request) => slowRequestSearch(sources, slow, review as SlowReview, request))],
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

type RefusalReview = Pick<AccessReview, 'metadata'> & { readonly spec?: Partial<RefusalSearch['spec']> };

async function refusalSearch(
  sources: ExplanationSources,
  refusals: RefusalLog,
  review: RefusalReview,
  { write }: ActionRequest,
): Promise<NonNullable<RefusalSearch['status']>> {
  const errors = new FieldErrors();
  checkMetadata({ metadata: review.metadata }, [], errors);
  refuseInvalid(sources, 'RefusalSearch', errors);
  const { auditID, user = '' } = review.spec ?? {};
  const isOther = user !== '' && user !== write.user.name;
  if (isOther) await checkMayReview(sources, write.user);
  const entries = refusals.of(isOther ? user : write.user.name, auditID).map(({ auditID: id, time, attributes }) => ({
    auditID: id,
    time: formatTime(time),
    ...actionOf(attributes),
  }));
  return { refusals: entries };
}
function actionOf({ verb, group, version, resource, subresource, name, namespace, path, resourceRequest }: RefusedAction): object {
  if (!resourceRequest) return { nonResourceAttributes: { verb, path } };
  const optional = Object.entries({ version, subresource, name, namespace }).filter(([, value]) => value !== '');
  return { resourceAttributes: { verb, group, resource, ...Object.fromEntries(optional) } };
}

type SlowReview = Pick<AccessReview, 'metadata'> & { readonly spec?: Partial<SlowRequestSearch['spec']> };

/** Requests of others, and names of webhooks, are for those who may list them. */
async function slowRequestSearch(
  sources: ExplanationSources,
  slow: SlowRequests,
  review: SlowReview,
  { write }: ActionRequest,
): Promise<NonNullable<SlowRequestSearch['status']>> {
  const errors = new FieldErrors();
  checkMetadata({ metadata: review.metadata }, [], errors);
  refuseInvalid(sources, 'SlowRequestSearch', errors);
  const { user } = write;
  const group = groupName(sources.identity, explainGroup);
  const listing = attributesOf(user, { resourceAttributes: { verb: 'list', group, version: 'v1alpha1', resource: 'slowrequestsearches' } });
  const mayList = await isAllowed(sources.authorizers, listing);
  const { allUsers = false } = review.spec ?? {};
  if (allUsers && !mayList) throw forbidden({ group, resource: listing.resource }, '', forbiddenMessage(listing, ''));
  const requests = slow.of(allUsers ? undefined : user.name).map(({ time, millis, steps, ...rest }) => ({
    ...rest,
    time: formatTime(time),
    milliseconds: tenths(millis),
    steps: steps.map(({ name, webhook, millis: taken }) => ({ name, ...(mayList && { webhook }), milliseconds: tenths(taken) })),
  }));
  return { requests };
}
const tenths = (millis: number): number => Math.round(millis * 10) / 10;

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

function check(sources: ExplanationSources, kind: string, review: AccessReview, isOther: boolean): void {
  const errors = new FieldErrors();
  const spec: Partial<SubjectAccessReviewSpec> = review.spec ?? {};
  checkQuestion(spec, errors);
  if (isOther) checkSubject(spec, errors);
  checkMetadata(review, [], errors);
  refuseInvalid(sources, kind, errors);
}
function refuseInvalid({ identity }: ExplanationSources, kind: string, errors: FieldErrors): void {
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
