/** Events of the events group, which are stored as those of the core group. */
import { eventCells, eventColumns, eventTtl } from '../core/event.ts';
import type { Event } from '../core/schema/events.ts';
import { kind, version } from '../kind.ts';
import { fromCore, toCore } from './conversion.ts';
import * as v1 from './schema/v1.ts';
import * as v1beta1 from './schema/v1beta1.ts';
import { validateChangedEvent, validateNewEvent } from './validate-event.ts';

const about = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

export const EventsEventKind = kind<Event>({
  group: 'events',
  kind: 'Event',
  plural: 'events',
  short: ['ev'],
  scope: 'Namespaced',
  versions: {
    v1: version({ schema: v1.Event, toHub: toCore, fromHub: fromCore }),
    v1beta1: version({ schema: v1beta1.Event, toHub: toCore, fromHub: fromCore }),
  },
  hub: 'v1',
  sharesStoreOf: { group: '', plural: 'events', version: 'v1' },
  createOnUpdate: true,
  strategy: { validate: validateNewEvent, validateUpdate: validateChangedEvent },
  ttl: eventTtl,
  fieldNames: {
    ...Object.fromEntries(about.map((field) => [`involvedObject.${field}`, `regarding.${field}`])),
    reason: 'reason',
    reportingComponent: 'reportingController',
    type: 'type',
  },
  columns: eventColumns,
  cells: eventCells,
});
