/** Events. */
import { ageAt } from '@plat-dev/meta/age';
import { type Cell, type Column, type KindEnv, kind } from '../kind.ts';
import { validateEvent } from '../validation/event.ts';
import { Event } from './schema/events.ts';

/** Fields by which events are selected, under the names of the core group. */
const eventFields: Readonly<Record<string, (event: Event) => string>> = {
  'involvedObject.kind': ({ involvedObject }) => involvedObject.kind ?? '',
  'involvedObject.namespace': ({ involvedObject }) => involvedObject.namespace ?? '',
  'involvedObject.name': ({ involvedObject }) => involvedObject.name ?? '',
  'involvedObject.uid': ({ involvedObject }) => involvedObject.uid ?? '',
  'involvedObject.apiVersion': ({ involvedObject }) => involvedObject.apiVersion ?? '',
  'involvedObject.resourceVersion': ({ involvedObject }) => involvedObject.resourceVersion ?? '',
  'involvedObject.fieldPath': ({ involvedObject }) => involvedObject.fieldPath ?? '',
  reason: ({ reason }) => reason ?? '',
  reportingComponent: ({ reportingComponent }) => reportingComponent,
  source: ({ source, reportingComponent }) => source.component || reportingComponent,
  type: ({ type }) => type ?? '',
};

export const eventColumns: readonly Column[] = [
  { name: 'Last Seen', type: 'string', description: 'How long ago the event was last seen.' },
  { name: 'Type', type: 'string', description: 'Whether the event is normal or a warning.' },
  { name: 'Reason', type: 'string', description: 'The short reason for the event.' },
  { name: 'Object', type: 'string', description: 'The object that the event is about.' },
  { name: 'Subobject', type: 'string', priority: 1, description: 'The part of the object that the event is about.' },
  { name: 'Source', type: 'string', priority: 1, description: 'The component, and where it runs, that reported the event.' },
  { name: 'Message', type: 'string', description: 'What happened, for people to read.' },
  { name: 'First Seen', type: 'string', priority: 1, description: 'How long ago the event was first seen.' },
  { name: 'Count', type: 'string', priority: 1, description: 'How often the event was seen.' },
  { name: 'Name', type: 'string', format: 'name', priority: 1, description: 'The name of the event itself.' },
];

export function eventCells(event: Event, env: KindEnv): Cell[] {
  const now = env.now();
  const { involvedObject: about, source, series } = event;
  const first = ageAt(now, event.firstTimestamp ?? event.eventTime);
  const last = series === undefined ? (event.lastTimestamp === undefined ? first : ageAt(now, event.lastTimestamp)) : undefined;
  const kindOf = (about.kind ?? '').toLowerCase();
  const where = source.host || event.reportingInstance;
  const component = source.component || event.reportingComponent;
  return [
    last ?? ageAt(now, series?.lastObservedTime),
    event.type ?? '',
    event.reason ?? '',
    about.name ? `${kindOf}/${about.name}` : kindOf,
    about.fieldPath ?? '',
    where === '' ? component : `${component}, ${where}`,
    (event.message ?? '').trim(),
    first,
    series === undefined ? event.count || 1 : (series.count ?? 0),
    event.metadata.name ?? '',
  ];
}

/** Events expire. */
export const eventTtl = (env: KindEnv): number => env.eventTtlSeconds ?? 3600;

export const EventKind = kind<Event>({
  group: '',
  kind: 'Event',
  plural: 'events',
  short: ['ev'],
  scope: 'Namespaced',
  versions: { v1: { schema: Event } },
  hub: 'v1',
  createOnUpdate: true,
  strategy: {
    validate: (event, errors, env) => validateEvent(event, errors, env),
    validateUpdate: (event, _old, errors, env) => validateEvent(event, errors, env),
  },
  ttl: eventTtl,
  fields: eventFields,
  columns: eventColumns,
  cells: eventCells,
});
