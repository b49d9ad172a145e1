/**
 * Fields and values of workloads in the versions before apps/v1.
 *
 *   extensions/v1beta1, apps/v1beta1  spec.rollbackTo.revision: 3     apps/v1  annotation deprecated.deployment.rollback.revision: "3"
 *   extensions/v1beta1                spec.templateGeneration: 3      apps/v1  annotation deprecated.daemonset.template.generation: "3"
 */

import { type Integer, integerOf, isInteger } from '@plat-dev/lib/integers';
import { own, without } from '@plat-dev/lib/own';
import type { LabelSelector, ObjectMeta } from '../meta.ts';
import { templateGeneration } from './daemon-set.ts';
import type { DaemonSet } from './schema/daemon-set.ts';
import type { Deployment } from './schema/deployment.ts';
import type { OlderDaemonSet, OlderDeployment } from './schema/older.ts';

/** The revision to roll back to; 0 is the previous one. */
export const rollbackRevision = 'deprecated.deployment.rollback.revision';

/** Reads a number from an annotation and removes it. Text that does not round-trip is kept. */
function takeNumber(metadata: ObjectMeta, annotation: string): Integer | undefined {
  const text = own(metadata.annotations, annotation);
  const others = without(metadata.annotations ?? {}, annotation);
  if (text === undefined || !/^-?\d{1,19}$/.test(text)) return undefined;
  const value = integerOf(text);
  if (!isInteger(value) || String(value) !== text) return undefined;
  if (Object.keys(others).length === 0) delete metadata.annotations;
  else metadata.annotations = others;
  return value;
}
function putNumber(metadata: ObjectMeta, annotation: string, value: Integer): void {
  metadata.annotations = { ...metadata.annotations, [annotation]: String(value) };
}

/** An apply configuration may have only some of the fields, here and in all conversions to the hub. */
export function deploymentToHub(deployment: OlderDeployment): Deployment {
  if (deployment.spec?.rollbackTo === undefined) return deployment;
  const { rollbackTo, ...spec } = deployment.spec;
  deployment.metadata ??= {};
  putNumber(deployment.metadata, rollbackRevision, rollbackTo?.revision ?? 0);
  return { ...deployment, spec };
}
export function deploymentFromHub(deployment: Deployment): OlderDeployment {
  const revision = takeNumber(deployment.metadata, rollbackRevision);
  if (revision === undefined) return deployment;
  return { ...deployment, spec: { ...deployment.spec, rollbackTo: revision === 0 ? {} : { revision } } };
}

/** A daemon set always has the annotation. */
export function daemonSetToHub(set: OlderDaemonSet): DaemonSet {
  if (set.spec === undefined) return set;
  const { templateGeneration: generation, ...spec } = set.spec;
  set.metadata ??= {};
  if (generation !== undefined || set.metadata.annotations?.[templateGeneration] === undefined)
    putNumber(set.metadata, templateGeneration, generation ?? 0);
  return { ...set, spec };
}
export function daemonSetFromHub(set: DaemonSet): OlderDaemonSet {
  const generation = takeNumber(set.metadata, templateGeneration);
  if (generation === undefined || generation === 0) return set;
  return { ...set, spec: { ...set.spec, templateGeneration: generation } };
}

interface Workload {
  metadata: ObjectMeta;
  spec: { selector?: LabelSelector; template: { metadata: ObjectMeta } };
}
/** The labels of the template are the default selector, and the default labels of the object. */
export function defaultLabels({ metadata, spec }: Workload): void {
  const { labels } = spec.template.metadata;
  if (labels === undefined) return;
  spec.selector ??= { matchLabels: { ...labels } };
  if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
}
