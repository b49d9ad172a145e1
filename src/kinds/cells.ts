/** Cells of Table rows that many kinds share. */
import { ageAt } from '../meta/age.ts';
import { fromLabelSelector } from '../meta/labels.ts';
import type { ApiObject, KindEnv } from './kind.ts';
import type { LabelSelector } from './meta.ts';

export const nameCell = (object: ApiObject): string => object.metadata.name ?? '';

/** How long ago the object was made. */
export const ageCell = (object: ApiObject, env: KindEnv): string => ageAt(env.now(), object.metadata.creationTimestamp);

/** `app=web,tier in (a,b)`; a selector that says nothing is `<none>`, one that cannot be read `<error>`. */
export function selectorCell(selector: LabelSelector | undefined): string {
  try {
    const text = fromLabelSelector(selector).toString();
    return text === '' ? '<none>' : text;
  } catch {
    return '<error>';
  }
}
