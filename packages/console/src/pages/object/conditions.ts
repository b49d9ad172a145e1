/** What happened to an object, by what it says itself: created, conditions, asked to be deleted; newest first. */

import { listAt, textAt, type Value } from '../../api/values.ts';
import type { StatusTone } from '../../parts/tones.ts';

export interface TimelineEntry {
  /** Empty: the object does not say when. */
  readonly time: string;
  readonly title: string;
  readonly status: string;
  readonly tone: StatusTone;
  readonly reason: string;
  readonly message: string;
}

/** Conditions that are good where they are not true. */
const goodWhenFalse =
  /Pressure$|Unavailable$|^Failed$|Failure$|^Stalled$|^Degraded$|^Suspended$|Denied$|Conflict|Error|DisruptionTarget|DeletionFailed|^NamesNotAccepted$/;

export function timelineOf(object: Value): TimelineEntry[] {
  const conditions = listAt(object, 'status', 'conditions').map(entryOf);
  const created = moment('Created', textAt(object, 'metadata', 'creationTimestamp'), 'over');
  const deletion = moment('Deletion asked for', textAt(object, 'metadata', 'deletionTimestamp'), 'busy');
  return [...conditions, ...created, ...deletion].sort((one, other) => order(other) - order(one));
}

function moment(title: string, time: string, tone: StatusTone): TimelineEntry[] {
  return time === '' ? [] : [{ time, title, status: '', tone, reason: '', message: '' }];
}

function entryOf(condition: Value): TimelineEntry {
  const title = textAt(condition, 'type');
  const status = textAt(condition, 'status');
  return {
    time: textAt(condition, 'lastTransitionTime') || textAt(condition, 'lastUpdateTime'),
    title,
    status,
    tone: toneOfCondition(title, status),
    reason: textAt(condition, 'reason'),
    message: textAt(condition, 'message'),
  };
}

function toneOfCondition(type: string, status: string): StatusTone {
  if (status !== 'True' && status !== 'False') return 'busy';
  return (status === 'True') === goodWhenFalse.test(type) ? 'bad' : 'good';
}

/** Those without a time come first: they are about now. */
const order = ({ time }: TimelineEntry): number => (time === '' ? Number.POSITIVE_INFINITY : Date.parse(time));
