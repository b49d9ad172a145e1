import { listAt, textAt, type Value } from './values.ts';

/** The word that the column Status of a table has for a pod, in short. */
export function podState(pod: Value): string {
  if (textAt(pod, 'metadata', 'deletionTimestamp') !== '') return 'Terminating';
  const statuses = [...listAt(pod, 'status', 'initContainerStatuses'), ...listAt(pod, 'status', 'containerStatuses')];
  const waiting = statuses.map((status) => textAt(status, 'state', 'waiting', 'reason')).find(Boolean);
  const phase = textAt(pod, 'status', 'phase');
  if (waiting !== undefined && phase !== 'Succeeded') return waiting;
  return textAt(pod, 'status', 'reason') || phase || 'Unknown';
}
