/** Cells of Table rows that many kinds share. */
import { ageAt } from '@plat-dev/meta/age';
import { fromLabelSelector } from '@plat-dev/meta/labels';
import type { ApiObject, KindEnv } from './kind.ts';
import type { LabelSelector } from './meta.ts';

export const nameCell = (object: ApiObject): string => object.metadata.name ?? '';

/** The age of the object. */
export const ageCell = (object: ApiObject, env: KindEnv): string => ageAt(env.now(), object.metadata.creationTimestamp);

/** `app=web,tier in (a,b)`; an empty selector is `<none>`, an invalid one `<error>`. */
export function selectorCell(selector: LabelSelector | undefined): string {
  try {
    const text = fromLabelSelector(selector).toString();
    return text === '' ? '<none>' : text;
  } catch {
    return '<error>';
  }
}
