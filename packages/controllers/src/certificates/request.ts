/** CertificateSigningRequests as their controllers see them. */

import type { ResourceRef } from '@plat-dev/client/dynamic';
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '@plat-dev/kinds/certificates/schema/v1';
import type { Part, Wire } from '@plat-dev/kinds/wire';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { formatTime } from '@plat-dev/meta/time';

export type RequestCondition = Part<CertificateSigningRequestCondition>;
export type SigningRequest = Wire<CertificateSigningRequest, 'spec'>;

export const requestsRef = (identity: Identity): ResourceRef => ({
  group: groupName(identity, 'certificates'),
  version: 'v1',
  name: 'certificatesigningrequests',
  namespaced: false,
});

export const pemOf = (base64 = ''): string => Buffer.from(base64, 'base64').toString('latin1');

/** Conditions of old objects have no status, and count as true. */
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
