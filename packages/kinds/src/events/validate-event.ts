/**
 * Validation of events of the events group. Version 1 accepts only events of the newer style, of which only the series may
 * change; version 1beta1 accepts those of the core group. Errors have the field names of the events group, which the client
 * sent.
 */
import { equal } from '@plat-dev/lib/equal';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { immutableProblem } from '@plat-dev/meta/names';
import type { Event } from '../core/schema/events.ts';
import type { ObjectReference } from '../core/schema/references.ts';
import type { KindEnv, WriteRequest } from '../kind.ts';
import { type EventFields, eventsFields, validateEvent } from '../validation/event.ts';
import { immutable } from '../validation/field-checks.ts';
import { invalidText } from '../validation/go-text.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';

const isStrict = ({ resource }: WriteRequest): boolean => resource.version === 'v1';
const at = (field: string): Path => Path.of(field);

export function validateNewEvent(event: Event, errors: FieldErrors, env: KindEnv, request: WriteRequest): void {
  validateEvent(event, errors, env, eventsFields);
  if (!isStrict(request)) return;
  validateSeries(event, errors);
  if (event.eventTime === undefined) errors.required(at('eventTime'));
  const { type = '', source } = event;
  if (type !== 'Normal' && type !== 'Warning') errors.invalid(at('type'), '', `has invalid value: ${type}`);
  const unset = (field: keyof EventFields, isSet: boolean) => isSet && errors.invalid(at(eventsFields[field]), '', 'needs to be unset');
  unset('firstTimestamp', event.firstTimestamp !== undefined);
  unset('lastTimestamp', event.lastTimestamp !== undefined);
  unset('count', (event.count ?? 0) !== 0);
  unset('source', (source.component ?? '') !== '' || (source.host ?? '') !== '');
}

function validateSeries({ series }: Event, errors: FieldErrors): void {
  if (series === undefined) return;
  if ((series.count ?? 0) < 2) errors.invalid(Path.of('series', 'count'), '', 'should be at least 2');
  if (series.lastObservedTime === undefined) errors.required(Path.of('series', 'lastObservedTime'));
}

export function validateChangedEvent(event: Event, old: Event, errors: FieldErrors, env: KindEnv, request: WriteRequest): void {
  validateEvent(event, errors, env, eventsFields);
  if (!isStrict(request)) return;
  metadataUpdateAgain(event, old, errors, env);
  if (!equal(event.series, old.series)) validateSeries(event, errors);
  if (!equal(event.involvedObject, old.involvedObject))
    invalidText(errors, at(eventsFields.involvedObject), referenceText(event.involvedObject), immutableProblem);
  immutable(event.reason, old.reason, at('reason'), errors);
  for (const field of ['message', 'source', 'firstTimestamp', 'lastTimestamp', 'count'] as const)
    immutable(event[field], old[field], at(eventsFields[field]), errors);
  // The reason is validated twice, as in a stock server.
  for (const field of ['reason', 'type', 'eventTime', 'action', 'related'] as const) immutable(event[field], old[field], at(field), errors);
  immutable(event.reportingComponent, old.reportingComponent, at('reportingController'), errors);
  immutable(event.reportingInstance, old.reportingInstance, at('reportingInstance'), errors);
}

function referenceText(reference: ObjectReference): string {
  const fields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'] as const;
  const names = ['Kind', 'Namespace', 'Name', 'UID', 'APIVersion', 'ResourceVersion', 'FieldPath'];
  return `core.ObjectReference{${fields.map((field, i) => `${names[i]}:${JSON.stringify(reference[field] ?? '')}`).join(', ')}}`;
}
