/** What validating policies find, as the client, the audit log and the explanation of a request get it. */

import { jsonText } from '@plat-dev/lib/json-text';
import { cut } from '@plat-dev/lib/message-values';
import { type ApiError, policyDenied } from '@plat-dev/meta/errors';
import type { Identity } from '@plat-dev/meta/identity';
import { deniedName } from '../refusal.ts';
import type { AdmissionRequest } from '../types.ts';

export interface Denial {
  readonly policy: string;
  /** Undefined where the policy itself cannot be used. */
  readonly binding: string | undefined;
  readonly message: string;
  readonly reason: string;
}

/** The client gets the first denial only. */
export function policyRefusal(request: AdmissionRequest, { policy, binding, message, reason }: Denial): ApiError {
  const by = binding === undefined ? `'${policy}'` : `'${policy}' with binding '${binding}'`;
  const known = reason === 'Forbidden' || reason === 'RequestEntityTooLarge' ? reason : 'Invalid';
  const why = `ValidatingAdmissionPolicy ${by} denied request: ${message}`;
  return policyDenied(request.served.resource, deniedName(request), why, known);
}

/** Most failures that one annotation of the audit log lists. */
const MAX_FAILURES = 64;
/** Longest value of an annotation, in characters. */
const MAX_VALUE = 10 * 1024;

export interface AuditedFailure {
  readonly message: string;
  readonly policy: string;
  readonly binding: string;
  readonly expressionIndex: number;
  readonly validationActions: readonly string[];
}

/** Annotations of the audit log, collected from all policies of a request. */
export class PolicyAnnotations {
  private readonly failures: AuditedFailure[] = [];
  private readonly values = new Map<string, Set<string>>();

  addFailure(failure: AuditedFailure): void {
    if (this.failures.length < MAX_FAILURES) this.failures.push(failure);
  }
  /** Several bindings may give values of one key. */
  add(policy: string, key: string, value: string): void {
    const name = `${policy}/${key}`;
    let values = this.values.get(name);
    if (values === undefined) {
      values = new Set();
      this.values.set(name, values);
    }
    values.add(cut(value, MAX_VALUE));
  }
  publish(request: AdmissionRequest, identity: Identity): void {
    for (const [name, values] of this.values) request.annotate(name, cut([...values].join(', '), MAX_VALUE));
    if (this.failures.length > 0)
      request.annotate(`validation.policy.admission.${identity.groupSuffix}/validation_failure`, jsonText(this.failures));
  }
}
