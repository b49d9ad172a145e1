import type { ManagedFieldsEntry } from './managers.ts';
import type { Write } from './record-update.ts';
import type { Values } from './shape.ts';

export interface ApplyWrite extends Write {
  /** The kind that the body must have. */
  readonly kind: string;
  /** The stored object; undefined when there is none yet. */
  readonly live: Values | undefined;
  /** The body as sent: parsed, but neither decoded nor defaulted. */
  readonly applied: Values;
  /** Takes fields from other managers. */
  readonly force: boolean;
  /** The opposite direction: an object of another version in the version of the request. Needed with `convert`. */
  readonly convertBack?: ((object: Values, apiVersion: string) => Values | undefined) | undefined;
  /** Brings a merged object into the normal form; by default by the schema, like `live`. Throws DecodeError. */
  readonly decode?: ((object: Values) => Values) | undefined;
  /** Recognizes a manager of client-side apply, whose fields are taken over without a conflict. */
  readonly clientApply?: ClientApply | undefined;
}

export interface Applied {
  /**
   * The new object in the normal form, without defaults and with the old managedFields; `live` itself when nothing changed,
   * else an object that shares nothing with it but managedFields.
   */
  readonly object: Values;
  /** Its new managedFields; those of `live` when nothing changed. */
  readonly managedFields: ManagedFieldsEntry[] | undefined;
}

export interface ClientApply {
  /** The names under which clients apply by default. */
  readonly managers: readonly string[];
  /** The annotation with the last applied object. */
  readonly annotation: string;
}
