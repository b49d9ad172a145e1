import type { Descriptions } from '../../description-texts.ts';

export const events: Descriptions = {
  'core.Event': {
    $: 'A report of something that happened to an object. Events are kept for a limited time only and may be merged or dropped.',
    metadata: 'Name and namespace of the event; the namespace is that of the object it is about.',
    involvedObject: 'Object that the event is about.',
    reason: 'Why it happened, in one CamelCase word for programs, such as FailedScheduling.',
    message: 'What happened, for people to read.',
    source: 'Component that reported the event. New reporters set reportingComponent instead.',
    firstTimestamp: 'When the event was first recorded.',
    lastTimestamp: 'When the event was last recorded.',
    count: 'How often the event has occurred.',
    type: 'Normal or Warning; new types may come.',
    eventTime: 'When the event was first observed, with microseconds.',
    series: 'How often and when a repeated event was last observed; not set for single events.',
    action: 'What was done, or failed, with regard to the object.',
    related: 'Second object that the event is about, for actions on two objects.',
    reportingComponent: 'Name of the controller that reported the event, with its domain.',
    reportingInstance: 'Which instance of the controller reported the event, for example its pod.',
  },
  'core.EventSource': {
    $: 'The component that reported an event.',
    component: 'Name of the reporting component.',
    host: 'Node on which the component runs.',
  },
  'core.EventSeries': {
    $: 'How a repeated event went on.',
    count: 'Number of occurrences up to the last heartbeat.',
    lastObservedTime: 'When the last occurrence was observed.',
  },
};
