import type { Descriptions } from '../../description-texts.ts';

const deprecated = 'Only for compatibility with events of the core group:';

export const events: Descriptions = {
  'events.Event': {
    $: 'A report of something that happened to an object. Events are kept for a limited time only and may be merged or dropped.',
    eventTime: 'When the event was first observed, with microseconds. Required.',
    series: 'How often and when a repeated event was last observed; not set for single events.',
    reportingController: 'Name of the controller that reported the event, with its domain. Required for new events.',
    reportingInstance:
      'Which instance of the controller reported the event, for example its pod. Required for new events, at most 128 characters.',
    action: 'What was done, or failed, with regard to the object, for programs. Required for new events, at most 128 characters.',
    reason: 'Why the action was taken, in one CamelCase word. Required for new events, at most 128 characters.',
    regarding: 'Object that the event is about; usually the one that the controller manages.',
    related: 'Second object that the event is about, for actions on two objects.',
    note: 'What happened, for people to read; at most 1 kB.',
    type: 'Normal or Warning; new types may come.',
    deprecatedSource: `${deprecated} the reporting component.`,
    deprecatedFirstTimestamp: `${deprecated} when the event was first recorded.`,
    deprecatedLastTimestamp: `${deprecated} when the event was last recorded.`,
    deprecatedCount: `${deprecated} how often the event has occurred.`,
  },
  'events.EventSeries': {
    $: 'How a repeated event went on.',
    count: 'Number of occurrences up to the last heartbeat, at least 2.',
    lastObservedTime: 'When the last occurrence was observed, before the last heartbeat.',
  },
};
