/**
 * Admission: after authorization and before the store, every write (and every connection to a subresource) passes the
 * plug-ins of one array, first those that change the object, then those that only judge it. The first refusal ends it.
 */

import type { ApiObject } from '../kinds/kind.ts';
import type { Served } from '../kinds/served.ts';
import type { User } from '../meta/user.ts';
import type { JsonObject, MessageType } from '../schema/types.ts';
import type { Explanation } from './explain.ts';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** Another object that is written in the same commit, guarded by the resourceVersion it carries (quota usage). */
export interface SideWrite {
  /** Base group name. */
  readonly group: string;
  readonly plural: string;
  /** Hub form. Its metadata.resourceVersion is the version it must still have. */
  readonly object: ApiObject;
}

/**
 * What must happen right before the commit of a creation or an update, and be undone or finished right after it. A commit
 * that fails because a side write was overtaken is prepared again, without the rest of admission.
 *
 *   prepare → commit conflicts on the quota → settle → prepare → commit → settle
 */
export interface CommitStep {
  /** Adds side writes. Throws an ApiError to refuse after all. */
  prepare(): void | Promise<void>;
  /**
   * The revision that the commit will have, where the store knows it before the commit is durable: another request may
   * already build on it.
   */
  assigned?(revision: number): void;
  /** Called once after each `prepare`, whether the commit was `stored` or not, and also when `prepare` itself threw. */
  settle(stored: boolean): void;
}

export interface AdmissionRequest {
  readonly operation: AdmissionOperation;
  readonly served: Served;
  readonly subresource: string;
  readonly namespace: string;
  /** Empty while a generated name is still to come: those that only judge see it. */
  name: string;
  /**
   * The new object in hub form, or the object of an action (Eviction, Binding, Scale …); undefined on DELETE. Mutating plug-ins
   * change it in place or replace it.
   */
  object: ApiObject | undefined;
  /** Hub form of the stored object; undefined on CREATE and CONNECT. Must not be changed. */
  readonly oldObject: ApiObject | undefined;
  /** Kind of `object` where it is not the served kind itself: `{ group: 'policy', version: 'v1', kind: 'Eviction' }`. */
  readonly objectKind?: ObjectKind;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions as JSON. */
  readonly options: JsonObject;
  readonly user: User;
  readonly dryRun: boolean;
  /** A dry run into a namespace that would be made for it: the namespace counts as being there. */
  namespaceToBeMade?: true;
  /** The object goes with a whole collection: the request did not name it. */
  readonly collection?: boolean | undefined;
  /** Writes of other objects that belong to this request; the registry commits them with it. */
  readonly sideWrites: SideWrite[];
  /** Absent while no plug-in asked for one. */
  commitSteps?: CommitStep[];
  /**
   * `wanted`: a webhook changed the object, and what ran before it runs once more. `running`: it does. The chain keeps it.
   */
  reinvocation?: 'wanted' | 'running';
  /** Collects what each plug-in did, where the client asked for that. */
  readonly explanation?: Explanation | undefined;
  /** Adds a Warning header. */
  warn(text: string): void;
  /** Adds an audit annotation; the first value of a key stays. `level`: the audit level from which on it is recorded. */
  annotate(key: string, value: string, level?: 'Metadata' | 'Request'): void;
}

/** `group` is a base group name. */
export interface ObjectKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema?: MessageType;
}

export interface AdmissionPlugin {
  readonly name: string;
  handles(operation: AdmissionOperation): boolean;
  /** Whether requests for this kind (or a subresource of it) are of interest. Asked once a kind; absent: all are. */
  concerns?(served: Served): boolean;
  /** May change the object. Throws an ApiError to refuse. */
  admit?(request: AdmissionRequest): void | Promise<void>;
  /** Judges. Throws an ApiError to refuse. */
  validate?(request: AdmissionRequest): void | Promise<void>;
  /** Ends connections and timers. */
  close?(): void;
}

export interface AdmissionChain {
  admit(request: AdmissionRequest): void | Promise<void>;
  validate(request: AdmissionRequest): void | Promise<void>;
  close?(): void;
}
