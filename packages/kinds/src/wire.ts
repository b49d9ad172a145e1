/**
 * The type of an object that was parsed and not decoded, by a controller from the server or by a rule from the
 * store. It is inferred from the schema; a message may be missing, and a list that is always written may be null:
 *
 *   Wire<Job>                      { metadata: …; spec?: { ttlSecondsAfterFinished?: number; … }; status?: { … } }
 *   Wire<RoleBinding, 'roleRef'>   { metadata: …; subjects?: …[]; roleRef: { kind: string; … } }      with a required field
 */
import type { ApiObject } from './kind.ts';

export type Wire<T extends object, Present extends keyof T = never> = ApiObject &
  Part<Omit<T, keyof ApiObject | Present>> & { [K in Present]: Part<T[K]> };

/** A part of such an object. */
export type Part<T> = T extends readonly (infer I)[]
  ? Part<I>[]
  : T extends object
    ? string extends keyof T
      ? Record<string, Part<T[keyof T]>>
      : Fields<T>
    : T;

type Fields<T> = { [K in keyof T as Sort<T, K> extends 'message' ? K : never]?: Part<T[K]> } & {
  [K in keyof T as Sort<T, K> extends 'list' ? K : never]: Part<T[K]> | null;
} & { [K in keyof T as Sort<T, K> extends 'optional' | 'scalar' ? K : never]: Part<T[K]> };
type Sort<T, K extends keyof T> =
  object extends Pick<T, K> ? 'optional' : T[K] extends readonly unknown[] ? 'list' : T[K] extends object ? 'message' : 'scalar';
