/** ValidatingAdmissionPolicy: evaluates the policies that a request meets. All are evaluated; the first denial is reported. */
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '@plat-dev/kinds/admissionregistration/schema/policies';
import { admissionExpressions, loadAdmissionExpressions } from '@plat-dev/kinds/expressions/load-admission-expressions';
import type { MatchConditions } from '@plat-dev/kinds/expressions/match-conditions';
import type { AnnotationResult, CheckResult, Finding, PolicyChecks } from '@plat-dev/kinds/expressions/policy-checks';
import { soonOrInSlices, type Work } from '@plat-dev/lib/slices';
import type { ApiRelease } from '@plat-dev/lib/version';
import { noChanges } from '../explanation.ts';
import { RequestValues } from '../expressions/request-values.ts';
import type { Candidate } from '../matching/match.ts';
import type { MakePlugin, PluginEnv } from '../plugin.ts';
import { type Denial, PolicyAnnotations, policyRefusal } from '../policies/denials.ts';
import { type Meeting, PolicyDispatcher } from '../policies/dispatch.ts';
import { PolicyMetrics, type PolicyOutcome } from '../policies/policy-metrics.ts';
import { type BoundPolicy, PolicySource } from '../policies/policy-source.ts';
import type { AdmissionRequest } from '../types.ts';

const NAME = 'ValidatingAdmissionPolicy';

type Policy = ValidatingAdmissionPolicy;
type PolicyBinding = ValidatingAdmissionPolicyBinding;
type PolicyMeeting = Meeting<Policy, PolicyBinding>;

export const validatingAdmissionPolicy: MakePlugin = (env) => {
  const plurals = { policies: 'validatingadmissionpolicies', bindings: 'validatingadmissionpolicybindings' };
  const source = env.feature(NAME) ? PolicySource.of<Policy, PolicyBinding>(env, plurals, prepare) : undefined;
  if (source === undefined) return { name: NAME, handles: () => false };
  const dispatcher = new PolicyDispatcher(env, source);
  const metrics = new PolicyMetrics(env.metrics, 'validating');
  return {
    name: NAME,
    handles: () => true,
    validate(request) {
      const candidates = dispatcher.candidates(request);
      if (candidates.length > 0) return soonOrInSlices(new Evaluation(env, dispatcher, metrics, request).run(candidates));
    },
  };
};
const prepare = (): void => void loadAdmissionExpressions();

interface CompiledPolicy {
  readonly conditions: MatchConditions;
  readonly checks: PolicyChecks;
}
/** By the stored object: each version of a policy is compiled once. */
const compiledPolicies = new WeakMap<Policy, CompiledPolicy>();

function* compiled(policy: Policy, release: ApiRelease): Work<CompiledPolicy> {
  let compiledPolicy = compiledPolicies.get(policy);
  if (compiledPolicy === undefined) {
    const { MatchConditions, PolicyChecks } = yield* admissionExpressions();
    const { matchConditions = [], paramKind } = policy.spec;
    compiledPolicy = {
      conditions: yield* MatchConditions.compiled(matchConditions, paramKind !== undefined, release),
      checks: yield* PolicyChecks.compiled(policy, release),
    };
    compiledPolicies.set(policy, compiledPolicy);
  }
  return compiledPolicy;
}

/** Of one request. */
class Evaluation {
  private readonly env: PluginEnv;
  private readonly dispatcher: PolicyDispatcher<Policy, PolicyBinding>;
  private readonly metrics: PolicyMetrics;
  private readonly request: AdmissionRequest;
  private readonly values: RequestValues;
  private readonly annotations = new PolicyAnnotations();
  private firstDenial: Denial | undefined;

  constructor(env: PluginEnv, dispatcher: PolicyDispatcher<Policy, PolicyBinding>, metrics: PolicyMetrics, request: AdmissionRequest) {
    this.env = env;
    this.dispatcher = dispatcher;
    this.metrics = metrics;
    this.request = request;
    this.values = new RequestValues(env, request, dispatcher.namespaces);
  }

  *run(candidates: readonly Candidate<BoundPolicy<Policy, PolicyBinding>>[]): Work<void> {
    const { request, env } = this;
    for (const candidate of candidates)
      yield* this.dispatcher.meet(
        candidate,
        request,
        (policy, binding, fault) => this.configurationFault(policy, binding?.name, fault),
        (meeting) => this.meet(meeting),
      );
    this.annotations.publish(request, env.identity);
    if (this.firstDenial !== undefined) throw policyRefusal(request, this.firstDenial);
  }

  /** The actions of the binding do not matter. */
  private configurationFault(policy: BoundPolicy<Policy, PolicyBinding>, binding: string | undefined, message: string): void {
    if (!policy.failOpen) this.deny({ policy: policy.name, binding, message, reason: '' });
    this.explain(policy.name, binding, 0, policy.failOpen ? { note: `passed over: ${message}` } : { refused: message });
  }
  private deny(denial: Denial): void {
    this.firstDenial ??= denial;
  }

  private *meet(meeting: PolicyMeeting): Work<void> {
    const { policy, binding, served, params } = meeting;
    const began = this.env.clock.monotonic();
    const { conditions, checks } = yield* compiled(policy.object, this.request.served.release);
    const values = { ...(yield* this.values.in(served)), params };
    const outcome = yield* conditions.evaluate(values);
    const seconds = (): number => (this.env.clock.monotonic() - began) / 1000;
    if (outcome.met === false) {
      this.explain(policy.name, binding.name, seconds(), { note: `its condition ${JSON.stringify(outcome.condition)} is false` });
      return;
    }
    const fault = (message: string): CheckResult => ({ findings: [{ index: 0, message, reason: '', isFault: true }], annotations: [] });
    const result = outcome.met === undefined ? fault(outcome.fault) : yield* checks.check(values);
    const { action, notes, refusals } = this.act(meeting, result);
    const hasFault = result.findings.some(({ isFault }) => isFault) || result.annotations.some((one) => 'fault' in one);
    this.metrics.checked(policy.name, binding.name, action, hasFault ? 'invalid_error' : 'no_error', seconds());
    this.explain(policy.name, binding.name, seconds(), {
      ...(refusals.length > 0 && { refused: refusals.join('; ') }),
      ...(notes.length > 0 && { note: notes.join('; ') }),
    });
  }

  /** Does what the binding says for each finding; those that are faults and passed over only leave a note. */
  private act({ policy, binding }: PolicyMeeting, { findings, annotations }: CheckResult) {
    const notes: string[] = [];
    const refusals: string[] = [];
    // Earlier releases only deny.
    const actions = binding.object.spec.validationActions ?? ['Deny'];
    let action: PolicyOutcome = 'allow';
    for (const finding of findings) {
      if (finding.isFault && policy.failOpen) {
        notes.push(`failed and was passed over: ${finding.message}`);
        continue;
      }
      if (actions.includes('Deny')) {
        refusals.push(finding.message);
        this.deny({ policy: policy.name, binding: binding.name, message: finding.message, reason: finding.reason });
        action = 'deny';
      }
      if (actions.includes('Audit')) {
        this.audit(policy.name, binding.name, finding, actions);
        if (action === 'allow') action = 'audit';
      }
      if (actions.includes('Warn')) {
        this.request.warn(`Validation failed for ${NAME} '${policy.name}' with binding '${binding.name}': ${finding.message}`);
        notes.push(`warned: ${finding.message}`);
        action = 'warn';
      }
    }
    for (const annotation of annotations) if (this.annotate(policy, binding.name, annotation) === 'denied') action = 'deny';
    return { action, notes, refusals };
  }
  private audit(policy: string, binding: string, { message, index }: Finding, validationActions: readonly string[]): void {
    this.annotations.addFailure({ message, policy, binding, expressionIndex: index, validationActions });
  }
  private annotate({ name, failOpen }: BoundPolicy<Policy, PolicyBinding>, binding: string, annotation: AnnotationResult) {
    if ('value' in annotation) this.annotations.add(name, annotation.key, annotation.value);
    else if (!failOpen) {
      this.deny({ policy: name, binding, message: annotation.fault, reason: '' });
      return 'denied';
    }
    return 'done';
  }

  private explain(policy: string, binding: string | undefined, seconds: number, what: { refused?: string; note?: string }): void {
    this.request.explanation?.add({
      step: binding === undefined ? `${NAME}/${policy}` : `${NAME}/${policy}/${binding}`,
      phase: 'validate',
      round: 0,
      millis: seconds * 1000,
      changes: noChanges,
      ...what,
    });
  }
}
