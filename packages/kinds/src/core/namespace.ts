/** Namespaces. */

import { ageAt } from '@plat-dev/meta/age';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { domainName } from '@plat-dev/meta/identity';
import { nameIsLabel, qualifiedName } from '@plat-dev/meta/names';
import { ageColumn, nameColumn } from '../columns.ts';
import { type KindEnv, kind, type Strategy } from '../kind.ts';
import { objectSubresource, status } from '../subresources.ts';
import { each } from '../validation/each.ts';
import { report } from '../validation/field-checks.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { Namespace } from './schema/namespace.ts';

/** Every namespace carries its name as a label, so that selectors can distinguish namespaces. */
function setNameLabel(namespace: Namespace, env: KindEnv): void {
  const { metadata } = namespace;
  if (metadata.name === undefined || metadata.name === '') return;
  const label = domainName(env.identity, 'metadata.name');
  metadata.labels ??= {};
  metadata.labels[label] = metadata.name;
}

const finalizers = Path.of('spec', 'finalizers');
const plainFinalizers = new Set(['orphan', 'foregroundDeletion']);

function validateFinalizer(name: string, at: Path, errors: FieldErrors, env: KindEnv): void {
  report(errors, at, name, qualifiedName(name));
  if (!name.includes('/') && !plainFinalizers.has(name) && name !== env.identity.word)
    errors.invalid(at, name, 'name is neither a standard finalizer name nor is it fully qualified');
}

function validate(namespace: Namespace, errors: FieldErrors, env: KindEnv): void {
  for (const name of namespace.spec.finalizers ?? []) validateFinalizer(name, finalizers, errors, env);
}

const strategy: Strategy<Namespace> = {
  prepareForCreate: (namespace, env) => {
    // A generated name is known only now.
    setNameLabel(namespace, env);
    namespace.status = { phase: 'Active' };
    const finalizers = namespace.spec.finalizers ?? [];
    if (!finalizers.includes(env.identity.word)) namespace.spec.finalizers = [...finalizers, env.identity.word];
  },
  prepareForUpdate: (namespace, old, env) => {
    setNameLabel(namespace, env);
    namespace.spec = old.spec;
    namespace.status = old.status;
  },
  validate,
  validateUpdate: (namespace, old, errors, env) => {
    metadataAgain(namespace, { namespaced: false, nameRule: nameIsLabel }, errors, env);
    validate(namespace, errors, env);
    metadataUpdateAgain(namespace, old, errors, env);
  },
  resetFields: [['status']],
};

const finalize: Strategy<Namespace> = {
  prepareForUpdate: (namespace, old) => {
    namespace.status = old.status;
  },
  validateUpdate: (namespace, old, errors, env) => {
    metadataUpdateAgain(namespace, old, errors, env);
    each(namespace.spec.finalizers, finalizers, (name, at) => validateFinalizer(name, at, errors, env));
  },
  resetFields: [['status']],
};

const statusStrategy: Strategy<Namespace> = {
  prepareForUpdate: (namespace, old) => {
    namespace.spec = old.spec;
  },
  validateUpdate: (namespace, old, errors, env) => {
    metadataUpdateAgain(namespace, old, errors, env);
    const {
      metadata,
      status: { phase = '' },
    } = namespace;
    const at = Path.of('status', 'Phase');
    if (metadata.deletionTimestamp === undefined) {
      if (phase !== 'Active') errors.invalid(at, phase, "may only be 'Active' if `deletionTimestamp` is empty");
    } else if (phase !== 'Terminating') errors.invalid(at, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty");
  },
  resetFields: [['spec']],
};

export const NamespaceKind = kind<Namespace>({
  group: '',
  kind: 'Namespace',
  plural: 'namespaces',
  short: ['ns'],
  scope: 'Cluster',
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  versions: { v1: { schema: Namespace, defaults: setNameLabel } },
  hub: 'v1',
  nameRule: nameIsLabel,
  deleteReturnsObject: true,
  strategy,
  holdsDeletion: (namespace) => (namespace.spec.finalizers ?? []).length > 0,
  deletionBegins: (namespace) => {
    namespace.status.phase = 'Terminating';
    // Deletion depends on its content, not on a grace period.
    delete namespace.metadata.deletionGracePeriodSeconds;
  },
  subresources: { finalize: objectSubresource(finalize, ['update']), status: status(statusStrategy) },
  fields: { 'status.phase': ({ status: { phase } }) => phase ?? '' },
  columns: [nameColumn, { name: 'Status', type: 'string', description: 'Whether the namespace is in use or being emptied.' }, ageColumn],
  cells: ({ metadata, status: { phase } }, env) => [metadata.name ?? '', phase ?? '', ageAt(env.now(), metadata.creationTimestamp)],
});
