/** Events. */
import { kind } from '../kind.ts';
import { Event } from './schema/events.ts';

export const EventKind = kind<Event>({
  group: '',
  kind: 'Event',
  plural: 'events',
  short: ['ev'],
  scope: 'Namespaced',
  versions: { v1: { schema: Event } },
  hub: 'v1',
  createOnUpdate: true,
  columns: [
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
  ],
});
