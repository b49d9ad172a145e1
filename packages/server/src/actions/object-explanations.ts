/** Questions about the state of one object: asked by creating an object, whose status is the answer. Nothing is stored. */
import type { DeletionExplanation } from '@plat-dev/kinds/explain/schema/object-explanations';
import { explainGroup } from '@plat-dev/kinds/explain-kinds';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { Slices } from '@plat-dev/lib/slices';
import { invalidReview } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { groupName } from '@plat-dev/meta/identity';
import { checkMetadata } from '../auth/review/access.ts';
import type { Authorizer } from '../auth/types.ts';
import { CallersView, type Target } from '../explain/callers-view.ts';
import { type Cause, MOST_CAUSES } from '../explain/cause.ts';
import { explainDeletion } from '../explain/deletion.ts';
import { explainPendingOf, explainReadiness } from '../explain/readiness.ts';
import type { Scheduling } from '../explain/scheduling.ts';
import type { RegistryDeps } from '../registry/context.ts';
import type { Action, ActionRequest } from '../services.ts';

export interface ObjectExplanationSources {
  readonly registry: RegistryDeps;
  readonly authorizers: readonly Authorizer[];
  readonly scheduling: Scheduling;
}

type Question = DeletionExplanation['spec'];
type Explain = (view: CallersView, target: Target) => Promise<{ readonly causes: readonly Cause[] }>;

export function objectExplanationActions(sources: ObjectExplanationSources): [string, Action][] {
  const { scheduling } = sources;
  const pending: Explain = (view, target) => explainPendingOf(view, target, scheduling);
  const readiness: Explain = (view, target) => explainReadiness(view, target, scheduling);
  return [
    ['explain/deletionexplanations', answering(sources, 'DeletionExplanation', explainDeletion)],
    ['explain/pendingexplanations', answering(sources, 'PendingExplanation', pending)],
    ['explain/readinessexplanations', answering(sources, 'ReadinessExplanation', readiness)],
  ];
}

function answering(sources: ObjectExplanationSources, kind: string, explain: Explain): Action {
  return async (request) => {
    const question = request.body as ApiObject & { spec?: Question };
    const view = await viewOf(sources, request);
    const target = await targetOf(view, kind, question);
    const { causes, ...state } = await explain(view, target);
    const incomplete = [...view.incomplete];
    if (causes.length > MOST_CAUSES) incomplete.push(`only ${MOST_CAUSES} causes are named`);
    const status = {
      ...state,
      causes: causes.slice(0, MOST_CAUSES),
      ...(view.unread > 0 && { unread: view.unread }),
      ...(incomplete.length > 0 && { incomplete }),
    };
    return { status: 201, object: { ...question, status } as ApiObject, schema: request.write.resource.schema };
  };
}

async function viewOf({ registry, authorizers }: ObjectExplanationSources, { ctx, write }: ActionRequest): Promise<CallersView> {
  const { catalog, cache, env } = registry;
  if (!cache.engine.exclusive) await cache.freshen();
  const slices = ctx.slices() ?? new Slices(() => ctx.ended, undefined, ctx.owner);
  return new CallersView({ identity: catalog.identity, catalog, authorizers, now: () => env.now() }, write.user, slices);
}

async function targetOf(view: CallersView, kind: string, { metadata, spec }: ApiObject & { spec?: Question }): Promise<Target> {
  const { group = '', resource: plural = '', namespace = '', name = '' }: Partial<Question> = spec ?? {};
  const errors = new FieldErrors();
  const at = Path.of('spec');
  const resource = view.resource(group, plural);
  if (plural === '') errors.required(at.child('resource'));
  else if (resource === undefined) errors.invalid(at.child('resource'), plural, 'there is no such resource in the group');
  else if (resource.kind.namespaced && namespace === '') errors.required(at.child('namespace'));
  if (name === '') errors.required(at.child('name'));
  checkMetadata({ metadata }, [], errors);
  if (!errors.empty || resource === undefined)
    throw invalidReview({ group: groupName(view.identity, explainGroup), resource: kind }, errors.list);
  return view.asked(resource, resource.kind.namespaced ? namespace : '', name);
}
