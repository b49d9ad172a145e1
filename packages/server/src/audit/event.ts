/** Audit events as text: a line of JSON, or the line that older tools read. */

import { jsonText } from '@plat-dev/lib/json-text';
import type { StatusDetails } from '@plat-dev/meta/errors';
import type { User } from '../auth/types.ts';
import type { Stage } from './policy.ts';

export interface ObjectRef {
  resource?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  apiGroup?: string;
  apiVersion?: string;
  resourceVersion?: string;
  subresource?: string;
}
export interface ResponseStatus {
  readonly metadata: object;
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

/** One event, its two objects as JSON text. */
export interface AuditEvent {
  readonly apiVersion: string;
  readonly level: string;
  readonly auditID: string;
  readonly stage: Stage;
  readonly requestURI: string;
  readonly verb: string;
  readonly user: User | undefined;
  readonly impersonatedUser: User | undefined;
  /** The right by which a caller with limited rights acts as another user. */
  readonly impersonationConstraint: string | undefined;
  readonly sourceIPs: readonly string[];
  readonly userAgent: string;
  readonly objectRef: ObjectRef | undefined;
  readonly responseStatus: ResponseStatus | undefined;
  readonly requestObject: string | undefined;
  readonly responseObject: string | undefined;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly annotations: ReadonlyMap<string, string> | undefined;
}

const userInfo = (user: User | undefined): object => ({
  ...(user !== undefined && user.name !== '' && { username: user.name }),
  ...(user?.uid !== undefined && user.uid !== '' && { uid: user.uid }),
  ...(user !== undefined && user.groups.length > 0 && { groups: user.groups }),
  ...(user?.extra !== undefined && { extra: user.extra }),
});

/** The event as one line of JSON, without its end. */
export function eventJson(event: AuditEvent): string {
  const { sourceIPs, annotations } = event;
  const first = jsonText({
    kind: 'Event',
    apiVersion: event.apiVersion,
    level: event.level,
    auditID: event.auditID,
    stage: event.stage,
    requestURI: event.requestURI,
    verb: event.verb,
    user: userInfo(event.user),
    ...(event.impersonatedUser !== undefined && { impersonatedUser: userInfo(event.impersonatedUser) }),
    ...(event.impersonationConstraint !== undefined && {
      authenticationMetadata: { impersonationConstraint: event.impersonationConstraint },
    }),
    ...(sourceIPs.length > 0 && { sourceIPs }),
    ...(event.userAgent !== '' && { userAgent: event.userAgent }),
    ...(event.objectRef !== undefined && { objectRef: event.objectRef }),
    ...(event.responseStatus !== undefined && { responseStatus: event.responseStatus }),
  });
  const objects =
    (event.requestObject === undefined ? '' : `,"requestObject":${event.requestObject}`) +
    (event.responseObject === undefined ? '' : `,"responseObject":${event.responseObject}`);
  const times = `,"requestReceivedTimestamp":"${event.requestReceivedTimestamp}","stageTimestamp":"${event.stageTimestamp}"`;
  const notes = annotations === undefined ? '' : `,"annotations":${JSON.stringify(Object.fromEntries([...annotations].sort()))}`;
  return `${first.slice(0, -1)}${objects}${times}${notes}}`;
}

/** The line of the legacy format: user, verb, object, source and result. */
export function eventLine(event: AuditEvent): string {
  const quote = (text: string): string => JSON.stringify(text);
  const list = (groups: readonly string[] | undefined, none: string): string =>
    groups === undefined || groups.length === 0 ? quote(none) : quote(groups.map(quote).join(','));
  const { user, impersonatedUser: as, responseStatus } = event;
  return [
    `${event.requestReceivedTimestamp} AUDIT: id=${quote(event.auditID)} stage=${quote(event.stage)}`,
    `ip=${quote(event.sourceIPs[0] ?? '<unknown>')} method=${quote(event.verb)}`,
    `user=${quote(user?.name || '<none>')} groups=${list(user?.groups, '<none>')}`,
    `as=${quote(as?.name ?? '<self>')} asgroups=${list(as?.groups, '<lookup>')} user-agent=${quote(event.userAgent)}`,
    `namespace=${quote(event.objectRef?.namespace ?? '<none>')} uri=${quote(event.requestURI)}`,
    `response="${responseStatus === undefined ? '<deferred>' : String(responseStatus.code ?? 0)}"`,
  ].join(' ');
}
