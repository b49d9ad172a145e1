import type { ObjectReference } from '../api/kinds.ts';

/** What each tab of an object gets. Its kind is known, the object itself may not exist any more. */
export interface ObjectTabProps {
  readonly object: ObjectReference;
}
