/** Metrics of policies, under the names of a stock server. */
import type { Metrics } from '@plat-dev/lib/metrics';

const buckets = [0.0000005, 0.001, 0.01, 0.1, 1];
/** What became of a policy for one binding and one parameter. */
export type PolicyOutcome = 'allow' | 'deny' | 'warn' | 'audit';
export type PolicyErrorType = 'no_error' | 'invalid_error';

export class PolicyMetrics {
  private readonly checks;
  private readonly durations;

  constructor(metrics: Metrics, type: 'validating' | 'mutating') {
    const labels = ['enforcement_action', 'error_type', 'policy', 'policy_binding'];
    this.checks = metrics.counter({
      name: `apiserver_${type}_admission_policy_check_total`,
      help: `Evaluations of ${type} policies, by policy, binding and what became of the request.`,
      labels,
    });
    this.durations = metrics.histogram({
      name: `apiserver_${type}_admission_policy_check_duration_seconds`,
      help: `Time that ${type} policies took, by policy, binding and what became of the request.`,
      labels,
      buckets,
    });
  }

  checked(policy: string, binding: string, outcome: PolicyOutcome, error: PolicyErrorType, seconds: number): void {
    this.checks.with(outcome, error, policy, binding).inc();
    this.durations.with(outcome, error, policy, binding).observe(seconds);
  }
}
