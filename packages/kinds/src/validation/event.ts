/** Validation of events of both groups. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { dns1123Subdomain } from '@plat-dev/meta/names';
import type { Event } from '../core/schema/events.ts';
import type { KindEnv } from '../kind.ts';
import { qualified, report } from './field-checks.ts';

const at = (field: string): Path => Path.of(field);
const MAX_WORD = 128;
const MAX_MESSAGE = 1024;

function atMost(text: string, most: number, field: string, errors: FieldErrors): void {
  if (Buffer.byteLength(text) > most) errors.invalid(at(field), '', `can have at most ${most} characters`);
}

/** The names, in the group of the request, of fields that differ between the two groups. */
export interface EventFields {
  readonly involvedObject: string;
  readonly message: string;
  readonly source: string;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly count: string;
}
const coreFields: EventFields = {
  involvedObject: 'involvedObject',
  message: 'message',
  source: 'source',
  firstTimestamp: 'firstTimestamp',
  lastTimestamp: 'lastTimestamp',
  count: 'count',
};
export const eventsFields: EventFields = {
  involvedObject: 'regarding',
  message: 'note',
  source: 'deprecatedSource',
  firstTimestamp: 'deprecatedFirstTimestamp',
  lastTimestamp: 'deprecatedLastTimestamp',
  count: 'deprecatedCount',
};

/**
 * An event with an `eventTime` is of the newer style and must name its reporter, action and reason; one without has hardly any
 * rules, but it must be in the namespace of its object.
 */
export function validateEvent(event: Event, errors: FieldErrors, env: KindEnv, names: EventFields = coreFields): void {
  const namespace = event.metadata.namespace ?? '';
  const about = event.involvedObject.namespace ?? '';
  const clusterWide = namespace === '' || namespace === 'default';
  const mismatch = (): void => errors.invalid(Path.of(names.involvedObject, 'namespace'), about, 'does not match event.namespace');
  if (event.eventTime === undefined) {
    if (about === '' ? !clusterWide : about !== namespace) mismatch();
  } else {
    if (about === '' && namespace !== 'default' && namespace !== env.identity.namespaces.system) mismatch();
    validateReport(event, errors, names, env);
  }
  report(errors, at('namespace'), namespace, dns1123Subdomain(namespace));
}

/** Events of the core group have another name for the reporter, which errors have since 1.25. */
const reporterName = (names: EventFields, env: KindEnv): string =>
  names === coreFields && env.since('1.25') ? 'reportingComponent' : 'reportingController';

function validateReport(event: Event, errors: FieldErrors, names: EventFields, env: KindEnv): void {
  const { reportingComponent, reportingInstance, action = '', reason = '', message = '' } = event;
  const reporterAt = at(reporterName(names, env));
  if (reportingComponent === '') errors.required(reporterAt);
  qualified(reportingComponent, reporterAt, errors);
  const words = { reportingInstance, action, reason } as const;
  for (const field of ['reportingInstance', 'action', 'reason'] as const) {
    if (words[field] === '') errors.required(at(field));
    atMost(words[field], MAX_WORD, field, errors);
  }
  atMost(message, MAX_MESSAGE, names.message, errors);
}
