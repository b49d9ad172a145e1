/** What controllers and nodes have reported about an object. */
import type { Event } from '@plat-dev/kinds/core/schema/events';
import type { Wire } from '@plat-dev/kinds/wire';
import type { CallersView, Target } from './callers-view.ts';

type WireEvent = Wire<Event, 'involvedObject'>;

/** The message of the newest warning about an object, of some reasons or of any. */
export async function lastWarning(view: CallersView, { object }: Target, reasons?: readonly string[]): Promise<string | undefined> {
  const { uid = '', namespace } = object.metadata;
  if (uid === '') return undefined;
  const { objects } = await view.list<WireEvent>(view.builtin('', 'events'), namespace ?? 'default', uid);
  const warnings = objects.filter(
    ({ involvedObject, type, reason }) =>
      involvedObject?.uid === uid && type === 'Warning' && (reasons === undefined || reasons.includes(reason ?? '')),
  );
  const timeOf = ({ lastTimestamp, eventTime, metadata }: WireEvent): string =>
    String(lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '');
  return warnings.sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1))[0]?.message;
}
