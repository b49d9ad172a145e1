/** A namespace that stays Terminating: APIs that do not answer, and its content kind by kind. */
import type { APIService } from '@plat-dev/kinds/apiregistration/schema/v1';
import type { Namespace } from '@plat-dev/kinds/core/schema/namespace';
import type { Wire } from '@plat-dev/kinds/wire';
import type { CallersView, Target } from './callers-view.ts';
import { type Cause, causeOf, commandFor, commandOn, explained, explainedName, isEnough, quoted, sentence } from './cause.ts';
import { unmetConditions } from './conditions.ts';
import { remainingObjects } from './remaining-objects.ts';

/** Kinds that come and go by themselves and keep no namespace. */
const transient = new Set(['events']);

export async function namespaceDeletionCauses(view: CallersView, target: Target): Promise<Cause[]> {
  const namespace = target.object as Wire<Namespace>;
  const name = namespace.metadata.name ?? '';
  const finalizers = namespace.spec?.finalizers ?? [];
  const causes = await unavailableApis(view);
  const counts: Cause[] = [];
  for (const resource of view.storedResources()) {
    if (isEnough(causes)) break;
    if (!resource.kind.namespaced || transient.has(resource.kind.plural)) continue;
    const { held, others } = await remainingObjects(view, resource, name, explained(target));
    causes.push(...held);
    counts.push(...others);
  }
  causes.push(...counts);
  // What the caller may not list is known as far as the namespace itself says it.
  if (view.incomplete.size > 0) causes.push(...unmetConditions(target, isReported));
  for (const finalizer of finalizers) if (finalizer !== view.identity.word) causes.push(ownFinalizerCause(target, finalizer));
  const isEmpty = causes.length === 0 && view.incomplete.size === 0;
  if (isEmpty && finalizers.length > 0) {
    const message = 'It is empty. The namespace controller removes its last finalizer soon, if it runs.';
    causes.push(causeOf(target, 'WaitsForController', message, commandOn('get', target, '--watch')));
  }
  return causes;
}

/** Conditions that the namespace controller has set because something remains. */
const isReported = ({ type = '', status }: { readonly type?: string; readonly status?: string }): boolean =>
  type.startsWith('Namespace') && status === 'True';

/** A finalizer of its spec goes by a request to `finalize`. */
function ownFinalizerCause(target: Target, finalizer: string): Cause {
  const { name = '' } = target.object.metadata;
  const message = `Its spec has the finalizer ${finalizer}. Whoever set it has to remove it by a request to ${target.resource.kind.plural}/finalize.`;
  const command = `get namespaces ${quoted(name)} -o json | jq '.spec.finalizers -= ["${finalizer}"]' | plat replace --raw /api/v1/namespaces/${name}/finalize -f -`;
  return causeOf(target, 'NamespaceFinalizer', message, command);
}

/** As long as an API does not answer, it is not known whether a namespace has objects of it. */
async function unavailableApis(view: CallersView): Promise<Cause[]> {
  const apiServices = view.builtin('apiregistration', 'apiservices');
  const { objects } = await view.list<Wire<APIService>>(apiServices);
  const causes: Cause[] = [];
  for (const { metadata, status } of objects) {
    const available = status?.conditions?.find(({ type }) => type === 'Available');
    if (available === undefined || available.status === 'True') continue;
    const object = explainedName(apiServices, '', metadata.name ?? '');
    const message = sentence(
      `The API ${object.name} does not answer, so that its objects in the namespace are not known: ${available.message ?? available.reason ?? ''}`,
    );
    causes.push({ reason: 'APIUnavailable', message, object, command: commandFor('why not ready', object) });
  }
  return causes;
}
