/** Certificate signing requests as the controllers around them see them. */
import type { ResourceRef } from '../../client/dynamic.ts';
import type { ApiObject } from '../../kinds/kind.ts';
import { groupName, type Identity } from '../../meta/identity.ts';
import { formatTime } from '../../meta/time.ts';

export interface RequestCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastUpdateTime?: string | null;
  lastTransitionTime?: string | null;
}
export interface SigningRequest extends ApiObject {
  spec: {
    /** Base64 of PEM. */
    request: string;
    signerName: string;
    expirationSeconds?: number;
    usages?: string[];
    username?: string;
    uid?: string;
    groups?: string[];
    extra?: Record<string, string[]>;
  };
  status?: { conditions?: RequestCondition[]; certificate?: string };
}

export const requestsRef = (identity: Identity): ResourceRef => ({
  group: groupName(identity, 'certificates'),
  version: 'v1',
  name: 'certificatesigningrequests',
  namespaced: false,
});

export const pemOf = (base64: string): string => Buffer.from(base64, 'base64').toString('latin1');

/** Conditions without a status are as old as the API, and mean that they hold. */
export function conditionOf(request: SigningRequest, type: string): RequestCondition | undefined {
  return (request.status?.conditions ?? []).find(
    (condition) => condition.type === type && (condition.status === 'True' || condition.status === ''),
  );
}
export const isApproved = (request: SigningRequest): boolean =>
  conditionOf(request, 'Approved') !== undefined && conditionOf(request, 'Denied') === undefined;
export const isIssued = (request: SigningRequest): boolean => (request.status?.certificate ?? '') !== '';

export function withCondition(request: SigningRequest, type: string, reason: string, message: string, now: number): SigningRequest {
  const time = formatTime(now);
  const condition = { type, status: 'True', reason, message, lastUpdateTime: time, lastTransitionTime: time };
  return { ...request, status: { ...request.status, conditions: [...(request.status?.conditions ?? []), condition] } };
}
