/** Conditions of a custom resource definition. */
import type { CustomResourceDefinition, CustomResourceDefinitionCondition, CustomResourceDefinitionStatus } from './schema/v1.ts';

export function conditionOf({ status }: CustomResourceDefinition, type: string): CustomResourceDefinitionCondition | undefined {
  return status.conditions?.find((condition) => condition.type === type);
}
export const isTrue = (definition: CustomResourceDefinition, type: string): boolean => conditionOf(definition, type)?.status === 'True';

/** Sets a condition; lastTransitionTime changes only with the status. */
export function setCondition(status: CustomResourceDefinitionStatus, condition: CustomResourceDefinitionCondition): void {
  const conditions = status.conditions ?? [];
  const at = conditions.findIndex(({ type }) => type === condition.type);
  const old = conditions[at];
  const since = old !== undefined && old.status === condition.status ? old.lastTransitionTime : undefined;
  const next = since === undefined ? condition : { ...condition, lastTransitionTime: since };
  status.conditions = at < 0 ? [...conditions, next] : conditions.with(at, next);
}
