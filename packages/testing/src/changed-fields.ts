/** Which fields of an object a write changed, as paths: `spec.replicas`, `metadata.labels["a.b/c"]`, `spec.containers[0].image`. */
import { own } from '@plat-dev/lib/own';

/** Limit of paths of one change; a last entry counts the rest. */
const MOST_PATHS = 200;
/** Fields that every write changes. */
const bookkeeping: ReadonlySet<string> = new Set(['metadata.managedFields', 'metadata.resourceVersion']);

export function changedFields(before: unknown, after: unknown): string[] {
  const paths: string[] = [];
  compare(before ?? {}, after ?? {}, '', paths);
  if (paths.length <= MOST_PATHS) return paths;
  return [...paths.slice(0, MOST_PATHS), `(${paths.length - MOST_PATHS} more)`];
}

function compare(before: unknown, after: unknown, path: string, paths: string[]): void {
  if (before === after || bookkeeping.has(path)) return;
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    for (let i = 0; i < before.length; i++) compare(before[i], after[i], `${path}[${i}]`, paths);
  } else if (isRecord(before) && isRecord(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)]))
      compare(own(before, name), own(after, name), pathOf(path, name), paths);
  } else if (isRecord(after) && before === undefined && Object.keys(after).length > 0) {
    for (const name of Object.keys(after)) compare(undefined, after[name], pathOf(path, name), paths);
  } else if (isRecord(before) && after === undefined && Object.keys(before).length > 0) {
    for (const name of Object.keys(before)) compare(before[name], undefined, pathOf(path, name), paths);
  } else paths.push(path);
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

function pathOf(path: string, name: string): string {
  if (!/^[A-Za-z_$][\w$-]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}
