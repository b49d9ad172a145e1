/**
 * pods/binding and bindings: binds a pod to a node. A scheduler posts it once per pod; the node of a pod is immutable afterwards.
 * The write is the server's own: it skips the rules of pod updates and owns no fields.
 */

import type { Binding } from '@plat-dev/kinds/core/schema/cluster';
import type { Pod, PodCondition } from '@plat-dev/kinds/core/schema/pods/pod';
import type { ApiObject, KindEnv } from '@plat-dev/kinds/kind';
import { Status } from '@plat-dev/kinds/meta-kinds';
import { inSlices } from '@plat-dev/lib/slices';
import { badRequest, conflict, invalid } from '@plat-dev/meta/errors';
import { FieldErrors, Path } from '@plat-dev/meta/field';
import { formatTime } from '@plat-dev/meta/time';
import type { MessageType } from '@plat-dev/schema/types';
import { CommitConflict } from '@plat-dev/storage/engine';
import { admissionRequest, boundedValue, commitPut, encodeBounded } from '../registry/commit.ts';
import { keyOf, lookUp, type RegistryDeps, type WriteContext } from '../registry/context.ts';
import { missing } from '../registry/unreadable.ts';
import type { Action } from '../services.ts';

/** How often a binding is retried after conflicting writes of the pod. */
const TRIES = 20;
const resource = { group: '', resource: 'pods/binding' };

/** Handlers of both resources. */
export function bindingActions(deps: RegistryDeps): [string, Action][] {
  const bind =
    (nameOf: (write: WriteContext, binding: ApiObject) => string): Action =>
    async ({ write, body }) => {
      const binding = body as ApiObject & Binding;
      const name = nameOf(write, binding);
      checkBinding(write, binding, name);
      await admit(deps, write, binding);
      await assign(deps, write, binding, name);
      const object = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
      return { status: 201, object, schema: Status as MessageType };
    };
  return [
    ['core/pods/binding', bind((write) => write.name)],
    ['core/bindings', bind((_write, binding) => binding.metadata.name ?? '')],
  ];
}

function checkBinding(write: WriteContext, binding: Binding, name: string): void {
  const { metadata, target } = binding;
  if (metadata.namespace !== undefined && metadata.namespace !== write.namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  if (metadata.name !== name) throw badRequest('name in URL does not match name in Binding object');
  const errors = new FieldErrors();
  const at = Path.of('target');
  if (target.kind !== undefined && target.kind !== 'Node') errors.notSupported(at.child('kind'), target.kind, ['Node', '<empty>']);
  if (target.name === undefined) errors.required(at.child('name'));
  if (errors.empty) return;
  throw invalid({ group: '', resource: 'Binding' }, name, errors.list);
}

async function admit(deps: RegistryDeps, write: WriteContext, binding: ApiObject): Promise<void> {
  const objectKind = { group: '', version: 'v1', kind: 'Binding' };
  const request = { ...admissionRequest(write, 'CREATE', binding, undefined), objectKind };
  await deps.admission.admit(request);
  await deps.admission.validate(request);
}

async function assign(deps: RegistryDeps, write: WriteContext, binding: Binding, name: string): Promise<void> {
  const { origin: requestOrigin } = write;
  const origin = requestOrigin && (() => ({ ...requestOrigin(), subresource: 'binding' }));
  const target: WriteContext = { ...write, origin, resource: deps.catalog.builtin('', 'pods'), name, subresource: '' };
  // A request for bindings does not wait for the pod by itself.
  await lookUp(target);
  for (let attempt = 1; ; attempt++) {
    try {
      await attemptAssign(deps, target, binding);
      return;
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error;
      if (attempt >= TRIES) throw conflict(resource, name, 'the pod changed too often while it was being bound');
    }
  }
}

async function attemptAssign(deps: RegistryDeps, target: WriteContext, binding: Binding): Promise<void> {
  const { name, dryRun, request } = target;
  const { versions } = target.resource;
  if (!deps.cache.engine.exclusive) await deps.cache.freshen();
  const item = target.resource.collection?.items.get(keyOf(target));
  if (item === undefined) throw missing(target);
  const slices = request?.slices(item.bytes.length);
  const pod = (versions.recent.sharedObject(target.resource, item) ?? (await versions.decode(item, slices))) as ApiObject & Pod;
  checkPreconditions(pod, binding, name);
  if (pod.metadata.deletionTimestamp !== undefined)
    throw conflict(resource, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  if (pod.spec.nodeName !== undefined)
    throw conflict(resource, name, `pod ${name} is already assigned to node ${JSON.stringify(pod.spec.nodeName)}`);
  if ((pod.spec.schedulingGates ?? []).length > 0) throw conflict(resource, name, `pod ${name} has non-empty .spec.schedulingGates`);
  if (dryRun) return;
  const object = bound(pod, binding, deps.env);
  const value =
    slices === undefined
      ? encodeBounded(deps, target.resource, object)
      : await inSlices(boundedValue(deps, target.resource, object), slices);
  const storedItem = await commitPut(deps, target, { object, value, expect: item.revision, created: item.created });
  // Annotations and labels may come out of order.
  versions.recent.keep(target.resource, storedItem, object, item, isOrdered(binding));
}

const isOrdered = ({ metadata: { annotations, labels } }: Binding): boolean => annotations === undefined && labels === undefined;

/** The pod on its node. It shares parts with the one given, which is not changed. */
function bound(pod: ApiObject & Pod, { metadata, target }: Binding, env: KindEnv): ApiObject & Pod {
  const annotations = metadata.annotations === undefined ? undefined : { ...pod.metadata.annotations, ...metadata.annotations };
  const { labels } = metadata;
  const status = { ...pod.status, conditions: withScheduled(pod.status.conditions ?? [], formatTime(env.now())) };
  // The node that was proposed says nothing any more.
  if (env.feature('ClearingNominatedNodeNameAfterBinding')) delete status.nominatedNodeName;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(annotations && { annotations }),
      ...(labels && env.feature('PodTopologyLabelsAdmission') && { labels: { ...pod.metadata.labels, ...labels } }),
    },
    spec: { ...pod.spec, nodeName: target.name as string },
    status,
  };
}

/** A binding may name the uid and resourceVersion of the pod. */
function checkPreconditions(pod: Pod, { metadata }: Binding, name: string): void {
  for (const [field, what] of [
    ['uid', 'UID'],
    ['resourceVersion', 'ResourceVersion'],
  ] as const) {
    const expectedValue = metadata[field];
    if (expectedValue !== undefined && expectedValue !== pod.metadata[field])
      throw conflict(
        { group: '', resource: 'pods' },
        name,
        `Precondition failed: ${what} in precondition: ${expectedValue}, ${what} in object meta: ${pod.metadata[field] ?? ''}`,
      );
  }
}

function withScheduled(conditions: readonly PodCondition[], now: string): PodCondition[] {
  const scheduled: PodCondition = { type: 'PodScheduled', status: 'True', lastTransitionTime: now };
  const index = conditions.findIndex((condition) => condition.type === scheduled.type);
  if (index < 0) return [...conditions, scheduled];
  return conditions[index]?.status === 'True' ? [...conditions] : conditions.with(index, scheduled);
}
