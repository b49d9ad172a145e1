/**
 * Fields that the stock client prints of objects which it made itself, although they are empty: its types always have them.
 *
 *   kubectl create namespace a --dry-run=client -o json → { …, metadata: { name: 'a', creationTimestamp: null }, spec: {}, status: {} }
 */
import { own } from '@plat-dev/lib/own';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function withEmptyFields(object: JsonObject): JsonObject {
  const rules = own(byKind, object.kind as string);
  const whole = withTime(object);
  return rules === undefined ? whole : rules(whole);
}

const withTime = (object: JsonObject): JsonObject => ({
  ...object,
  metadata: { ...(object.metadata as JsonObject), creationTimestamp: null },
});
const inside = (object: JsonObject, field: string, change: (value: JsonObject) => JsonObject): JsonObject => {
  const value = own(object, field);
  return isObject(value) ? { ...object, [field]: change(value) } : object;
};
const template = (spec: JsonObject): JsonObject => inside(spec, 'template', (pod) => inside(withTime(pod), 'spec', podSpec));
function podSpec(spec: JsonObject): JsonObject {
  const containers = (spec.containers ?? []) as JsonObject[];
  return { ...spec, containers: containers.map((container) => ({ ...container, resources: container.resources ?? {} })) };
}

type Rule = (object: JsonObject) => JsonObject;
const balanced: Rule = (object) => ({ ...object, status: { loadBalancer: {} } });
const byKind: Readonly<Record<string, Rule>> = {
  ClusterRole: (object) => ({ ...object, ...(object.aggregationRule !== undefined && { rules: null }) }),
  CronJob: (object) => ({
    ...inside(object, 'spec', (spec) => inside(spec, 'jobTemplate', (job) => inside(withTime(job), 'spec', template))),
    status: {},
  }),
  Deployment: (object) => ({ ...inside(object, 'spec', (spec) => ({ ...template(spec), strategy: {} })), status: {} }),
  HorizontalPodAutoscaler: (object) => ({ ...object, status: { currentReplicas: 0, desiredReplicas: 0 } }),
  Ingress: balanced,
  Job: (object) => ({ ...inside(object, 'spec', template), status: {} }),
  Namespace: (object) => ({ ...object, spec: {}, status: {} }),
  Pod: (object) => ({ ...inside(object, 'spec', podSpec), status: {} }),
  PodDisruptionBudget: (object) => ({
    ...object,
    status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
  }),
  ResourceQuota: (object) => ({ ...object, spec: object.spec ?? {}, status: {} }),
  Service: balanced,
};
