/** Conditions of a custom resource definition. */
import type { CustomResourceDefinition, CustomResourceDefinitionCondition, CustomResourceDefinitionStatus } from './schema/v1.ts';

export function conditionOf({ status }: CustomResourceDefinition, type: string): CustomResourceDefinitionCondition | undefined {
  return status.conditions?.find((condition) => condition.type === type);
}
export const isTrue = (definition: CustomResourceDefinition, type: string): boolean => conditionOf(definition, type)?.status === 'True';

/** Puts a condition in its place; the time of one whose status stays is that of the change before. */
export function setCondition(status: CustomResourceDefinitionStatus, condition: CustomResourceDefinitionCondition): void {
  const conditions = status.conditions ?? [];
  const at = conditions.findIndex(({ type }) => type === condition.type);
  const old = conditions[at];
  const since = old !== undefined && old.status === condition.status ? old.lastTransitionTime : undefined;
  const next = since === undefined ? condition : { ...condition, lastTransitionTime: since };
  status.conditions = at < 0 ? [...conditions, next] : conditions.with(at, next);
}
