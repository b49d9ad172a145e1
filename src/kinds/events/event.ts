/** Events as the events group shows them; they live in the store of the core group's events. */
import { EventKind } from '../core/event.ts';
import type { Event } from '../core/schema/events.ts';
import { kind } from '../kind.ts';
import * as v1 from './schema/v1.ts';
import * as v1beta1 from './schema/v1beta1.ts';

export const EventsEventKind = kind<Event>({
  group: 'events',
  kind: 'Event',
  plural: 'events',
  short: ['ev'],
  scope: 'Namespaced',
  versions: { v1: { schema: v1.Event }, v1beta1: { schema: v1beta1.Event, deprecation: { deprecated: '1.22', removed: '1.25' } } },
  hub: 'v1',
  sharesStoreOf: { group: '', plural: 'events', version: 'v1' },
  createOnUpdate: true,
  columns: EventKind.columns,
});
