/** Checks of a single object: its conditions and owners. */
import { own } from '@plat-dev/lib/own';
import { type Check, checked, subjectOf } from './check.ts';
import { isRecord, valueText } from './partial-match.ts';

/** Any object of the API, as far as these checks read it. */
export interface AnyObject {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?:
    | { readonly name?: string | undefined; readonly namespace?: string | undefined; readonly uid?: string | undefined }
    | undefined;
}

/** An owner: an object, or some of its fields. */
export interface OwnerChoice {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  readonly uid?: string | undefined;
  /** Whether it must be the owner that controls the object. */
  readonly controller?: boolean | undefined;
}

/** `Deployment default/web`. */
export function nameOf(object: unknown): string {
  if (!isRecord(object)) return valueText(object);
  const { kind, metadata } = object as AnyObject;
  const place = metadata?.namespace === undefined ? '' : `${metadata.namespace}/`;
  return `${kind ?? 'object'} ${place}${metadata?.name ?? '(without a name)'}`;
}

/** Whether an object has a condition of this type with this status (default `True`) and, where given, this reason. */
export function checkCondition(object: unknown, type: string, status = 'True', reason?: string): Check {
  const conditions = listAt(object, 'status', 'conditions');
  const condition = conditions.find((each) => each.type === type);
  const pass = condition?.status === status && (reason === undefined || condition.reason === reason);
  subjectOf.set(conditions, object);
  const conditionText = `condition ${type}=${status}${reason === undefined ? '' : ` (${reason})`}`;
  return checked(
    pass,
    () => `${nameOf(object)} has no ${conditionText}: ${conditionsShown(conditions)}`,
    () => `${nameOf(object)} has ${conditionText}`,
    conditions,
    [{ type, status, ...(reason !== undefined && { reason }) }],
  );
}

/** Whether an object names this owner. */
export function checkOwner(object: unknown, owner: AnyObject | OwnerChoice): Check {
  const owners = listAt(object, 'metadata', 'ownerReferences');
  const ownerChoice = choiceOf(owner);
  const pass = owners.some((each) => Object.entries(ownerChoice).every(([field, value]) => (own(each, field) ?? false) === value));
  const text = `owner ${valueText(ownerChoice)}`;
  return checked(
    pass,
    () => `${nameOf(object)} has no ${text}: ${owners.length === 0 ? 'it has no owners' : `its owners are ${valueText(owners)}`}`,
    () => `${nameOf(object)} has the ${text}`,
    object,
    ownerChoice,
  );
}

function choiceOf(owner: AnyObject | OwnerChoice): Record<string, unknown> {
  const { metadata } = owner as AnyObject;
  const { apiVersion, kind, name, uid, controller } = (metadata === undefined ? owner : { ...owner, ...pick(metadata) }) as OwnerChoice;
  const entries = Object.entries({ apiVersion, kind, name, uid, controller }).filter(([, value]) => value !== undefined);
  if (entries.length === 0) throw new TypeError('an owner needs at least one of apiVersion, kind, name, uid, controller');
  return Object.fromEntries(entries);
}
const pick = ({ name, uid }: NonNullable<AnyObject['metadata']>) => ({ name, uid });

const listAt = (object: unknown, outer: string, inner: string): Record<string, unknown>[] => {
  const holder = isRecord(object) ? own(object, outer) : undefined;
  const list = isRecord(holder) ? own(holder, inner) : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
};

function conditionsShown(conditions: readonly Record<string, unknown>[]): string {
  if (conditions.length === 0) return 'it has no conditions';
  const one = ({ type, status, reason, message }: Record<string, unknown>) =>
    `${type}=${status}${reason === undefined || reason === '' ? '' : ` (${reason})`}${message === undefined || message === '' ? '' : `: ${message}`}`;
  return `it has ${conditions.map(one).join('; ')}`;
}
