/** Strategies that all workloads share. */
import type { Path } from '@plat-dev/meta/field';
import { syncServiceAccount } from '../core/pods/pod-defaults.ts';
import type { PodTemplateSpec } from '../core/schema/pods/pod.ts';
import type { ApiObject, KindEnv, Strategy } from '../kind.ts';
import { podWarnings } from './pods/pod-warnings.ts';

/** Normalizes a template after admission, before it is stored. */
export function prepareTemplate(template: PodTemplateSpec | undefined): void {
  if (template !== undefined) syncServiceAccount(template.spec);
}

/** Warnings about the template of an object that is new or whose spec has changed. */
export function templateWarnings(
  object: ApiObject,
  old: ApiObject | undefined,
  template: PodTemplateSpec | undefined,
  at: Path,
  env: KindEnv,
): string[] {
  if (template === undefined || (old !== undefined && old.metadata.generation === object.metadata.generation)) return [];
  return podWarnings(template.metadata, template.spec, env, at);
}

/** Writes of `status` do not change the spec. */
export function keepsSpec<T extends { spec: unknown }>(validateUpdate: NonNullable<Strategy<T>['validateUpdate']>): Strategy<T> {
  return {
    prepareForUpdate(object, old) {
      object.spec = old.spec;
    },
    validateUpdate,
    resetFields: [['spec']],
  };
}
