/** What the rules of readiness ask. */
import type { CallersView, Target } from './callers-view.ts';
import type { Cause } from './cause.ts';
import type { Scheduling } from './scheduling.ts';

/** The objects of the caller, the scheduler, and the readiness of other objects. */
export interface Readiness {
  readonly view: CallersView;
  readonly scheduling: Scheduling;
  /** Causes of an object that another one depends on. */
  of(target: Target, dependent: Target): Promise<Cause[]>;
}
