/**
 * Admission: after authorization and before the store, every write (and every connection to a subresource) passes the
 * plug-ins of one array, first those that change the object, then those that only judge it. The first refusal ends it.
 */

import type { ApiObject } from '../kinds/kind.ts';
import type { Served } from '../kinds/served.ts';
import type { User } from '../meta/user.ts';
import type { JsonObject, MessageType } from '../schema/types.ts';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** Another object that is written in the same commit, guarded by the resourceVersion it carries (quota usage). */
export interface SideWrite {
  /** Base group name. */
  readonly group: string;
  readonly plural: string;
  /** Hub form. Its metadata.resourceVersion is the version it must still have. */
  readonly object: ApiObject;
}

export interface AdmissionRequest {
  readonly operation: AdmissionOperation;
  readonly served: Served;
  readonly subresource: string;
  readonly namespace: string;
  /** Empty while a generated name is still to come. */
  readonly name: string;
  /**
   * The new object in hub form, or the object of an action (Eviction, Binding, Scale …); undefined on DELETE. Mutating plug-ins
   * change it in place or replace it.
   */
  object: ApiObject | undefined;
  /** Hub form of the stored object; undefined on CREATE and CONNECT. Must not be changed. */
  readonly oldObject: ApiObject | undefined;
  /** Kind of `object` where it is not the served kind itself: `{ group: 'policy', version: 'v1', kind: 'Eviction' }`. */
  readonly objectKind?: { readonly group: string; readonly version: string; readonly kind: string; readonly schema?: MessageType };
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions as JSON. */
  readonly options: JsonObject;
  readonly user: User;
  readonly dryRun: boolean;
  /** Writes of other objects that belong to this request; the registry commits them with it. */
  readonly sideWrites: SideWrite[];
  /** Adds a Warning header. */
  warn(text: string): void;
  /** Adds an audit annotation; the first value of a key stays. */
  annotate(key: string, value: string): void;
}

export interface AdmissionPlugin {
  readonly name: string;
  handles(operation: AdmissionOperation): boolean;
  /** May change the object. Throws an ApiError to refuse. */
  admit?(request: AdmissionRequest): void | Promise<void>;
  /** Judges. Throws an ApiError to refuse. */
  validate?(request: AdmissionRequest): void | Promise<void>;
}

export interface AdmissionChain {
  admit(request: AdmissionRequest): void | Promise<void>;
  validate(request: AdmissionRequest): void | Promise<void>;
}
