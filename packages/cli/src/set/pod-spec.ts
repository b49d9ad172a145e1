/** The pod specification within an object, and its containers. */
import { own } from '@plat-dev/lib/own';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function pathOf({ kind, spec }: JsonObject): readonly string[] | undefined {
  if (kind === 'Pod') return ['spec'];
  if (kind === 'CronJob') return ['spec', 'jobTemplate', 'spec', 'template', 'spec'];
  return isObject(spec) && isObject(spec.template) && isObject(spec.template.spec) ? ['spec', 'template', 'spec'] : undefined;
}

/** The object with a changed pod specification. Throws where it has none. */
export function withPodSpec(object: JsonObject, change: (spec: JsonObject) => JsonObject): JsonObject {
  const path = pathOf(object);
  if (path === undefined) throw new Error('the object is not a pod or does not have a pod template');
  return changedAt(object, path, change);
}
function changedAt(object: JsonObject, [first, ...rest]: readonly string[], change: (value: JsonObject) => JsonObject): JsonObject {
  if (first === undefined) return change(object);
  const inner = own(object, first);
  return { ...object, [first]: changedAt(isObject(inner) ? inner : {}, rest, change) };
}

export interface Container extends JsonObject {
  name: string;
}

/** Changes containers, then init containers. */
export function withContainers(spec: JsonObject, change: (container: Container) => Container): JsonObject {
  const changed = (list: JsonValue | undefined): Container[] => ((list ?? []) as Container[]).map(change);
  return {
    ...spec,
    ...(spec.containers !== undefined && { containers: changed(spec.containers) }),
    ...(spec.initContainers !== undefined && { initContainers: changed(spec.initContainers) }),
  };
}

/** Whether a name matches a pattern in which * stands for any characters. */
export function nameMatches(name: string, pattern: string): boolean {
  if (!pattern.includes('*')) return name === pattern;
  const parts = pattern.split('*');
  const first = parts[0] as string;
  const last = parts.at(-1) as string;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const index = name.indexOf(part, at);
    if (index === -1) return false;
    at = index + part.length;
  }
  return at <= name.length - last.length;
}
