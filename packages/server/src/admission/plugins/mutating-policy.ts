/**
 * MutatingAdmissionPolicy: changes the object as the policies that the request meets say, one after the other. Those with `IfNeeded`
 * run once more where others have changed the object after them.
 */
import type { MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding } from '@plat-dev/kinds/admissionregistration/schema/policies';
import { admissionExpressions, loadAdmissionExpressions } from '@plat-dev/kinds/expressions/load-admission-expressions';
import type { MatchConditions } from '@plat-dev/kinds/expressions/match-conditions';
import type { PolicyMutations } from '@plat-dev/kinds/expressions/policy-mutations';
import { equal } from '@plat-dev/lib/equal';
import { noWork, soonOrInSlices, type Work } from '@plat-dev/lib/slices';
import type { ApiRelease } from '@plat-dev/lib/version';
import { mutationDenied } from '@plat-dev/meta/errors';
import { type Changes, changesBetween, noChanges } from '../explanation.ts';
import { RequestValues } from '../expressions/request-values.ts';
import type { Candidate } from '../matching/match.ts';
import type { MakePlugin, PluginEnv } from '../plugin.ts';
import { type Meeting, PolicyDispatcher } from '../policies/dispatch.ts';
import { MutationFault, mutate } from '../policies/mutated-object.ts';
import { PolicyMetrics } from '../policies/policy-metrics.ts';
import { type BoundPolicy, PolicySource } from '../policies/policy-source.ts';
import { deniedName } from '../refusal.ts';
import { Rounds } from '../rounds.ts';
import type { AdmissionRequest } from '../types.ts';

const NAME = 'MutatingAdmissionPolicy';

type Policy = MutatingAdmissionPolicy;
type PolicyBinding = MutatingAdmissionPolicyBinding;
type PolicyMeeting = Meeting<Policy, PolicyBinding>;

export const mutatingAdmissionPolicy: MakePlugin = (env) => {
  const plurals = { policies: 'mutatingadmissionpolicies', bindings: 'mutatingadmissionpolicybindings' };
  const source = env.feature(NAME) ? PolicySource.of<Policy, PolicyBinding>(env, plurals, prepare) : undefined;
  if (source === undefined) return { name: NAME, handles: () => false };
  const dispatcher = new PolicyDispatcher(env, source);
  const metrics = new PolicyMetrics(env.metrics, 'mutating');
  const roundsOf = new WeakMap<AdmissionRequest, Rounds>();
  return {
    name: NAME,
    handles: (operation) => operation !== 'DELETE',
    admit(request) {
      const candidates = dispatcher.candidates(request);
      if (candidates.length === 0) return;
      const rounds = roundsOf.get(request) ?? new Rounds();
      roundsOf.set(request, rounds);
      return soonOrInSlices(new MutationRun(env, dispatcher, metrics, request, rounds).run(candidates));
    },
  };
};
const prepare = (): void => void loadAdmissionExpressions();

interface CompiledPolicy {
  readonly conditions: MatchConditions;
  readonly mutations: PolicyMutations;
}
/** By the stored object: each version of a policy is compiled once. */
const compiledPolicies = new WeakMap<Policy, CompiledPolicy>();

function* compiled(policy: Policy, release: ApiRelease): Work<CompiledPolicy> {
  let compiledPolicy = compiledPolicies.get(policy);
  if (compiledPolicy === undefined) {
    const { MatchConditions, PolicyMutations } = yield* admissionExpressions();
    const { matchConditions = [], paramKind } = policy.spec;
    compiledPolicy = {
      conditions: yield* MatchConditions.compiled(matchConditions, paramKind !== undefined, release),
      mutations: yield* PolicyMutations.compiled(policy, release),
    };
    compiledPolicies.set(policy, compiledPolicy);
  }
  return compiledPolicy;
}

interface Refusal {
  readonly message: string;
  readonly reason: 'Invalid' | 'Forbidden';
}

/** Of one request, in one round. */
class MutationRun {
  private readonly env: PluginEnv;
  private readonly dispatcher: PolicyDispatcher<Policy, PolicyBinding>;
  private readonly metrics: PolicyMetrics;
  private readonly request: AdmissionRequest;
  private readonly rounds: Rounds;
  private readonly values: RequestValues;
  private readonly isAgain: boolean;
  private readonly refusals: Refusal[] = [];

  constructor(
    env: PluginEnv,
    dispatcher: PolicyDispatcher<Policy, PolicyBinding>,
    metrics: PolicyMetrics,
    request: AdmissionRequest,
    rounds: Rounds,
  ) {
    this.env = env;
    this.dispatcher = dispatcher;
    this.metrics = metrics;
    this.request = request;
    this.rounds = rounds;
    this.values = new RequestValues(env, request, dispatcher.namespaces);
    this.isAgain = request.reinvocation === 'running';
  }

  *run(candidates: readonly Candidate<BoundPolicy<Policy, PolicyBinding>>[]): Work<void> {
    const { request, rounds } = this;
    if (this.isAgain && rounds.changedSince(request.object)) rounds.wantEarlier();
    // Selectors look at the object as it was before any of the policies.
    const meetings: PolicyMeeting[] = [];
    for (const candidate of candidates)
      yield* this.dispatcher.meet(
        candidate,
        request,
        (policy, binding, fault) => this.refuse(policy, binding?.name, fault, 'Forbidden'),
        (meeting) => {
          meetings.push(meeting);
          return noWork(undefined);
        },
      );
    for (const [i, meeting] of meetings.entries()) yield* this.meet(meeting, i);
    if (!this.isAgain) rounds.remember(request.object);
    const [first] = this.refusals;
    if (first === undefined) return;
    const messages = this.refusals.map(({ message }) => message);
    throw mutationDenied(request.served.resource, deniedName(request), messages, first.reason);
  }

  private refuse(
    { name, failOpen }: BoundPolicy<Policy, PolicyBinding>,
    binding: string | undefined,
    fault: string,
    reason: Refusal['reason'],
  ): void {
    if (failOpen) return;
    const by = binding === undefined ? JSON.stringify(name) : `'${name}' with binding '${binding}'`;
    this.refusals.push({ message: `policy ${by} denied request: ${fault}`, reason });
  }

  /** The index tells several parameters of one binding apart, in both rounds. */
  private *meet(meeting: PolicyMeeting, index: number): Work<void> {
    const { policy, binding, served, params } = meeting;
    const { request, rounds } = this;
    const began = this.env.clock.monotonic();
    const { conditions, mutations } = yield* compiled(policy.object, request.served.release);
    const outcome = yield* conditions.evaluate({ ...(yield* this.values.in(served)), params });
    const faults: string[] = [];
    let changes = noChanges;
    if (outcome.met === undefined) faults.push(outcome.fault);
    if (outcome.met === true) {
      const id = `${policy.name}/${binding.name}/${index}`;
      // One that did not run in the first round does not run in the second either.
      if (this.isAgain && !rounds.wants(id)) return;
      const objectBefore = request.object;
      for (let i = 0; i < mutations.count && request.object !== undefined; i++) yield* this.mutate(meeting, mutations, i, faults);
      if (objectBefore !== request.object && !equal(objectBefore, request.object)) changes = this.changed(objectBefore);
      if (policy.object.spec.reinvocationPolicy === 'IfNeeded') rounds.recordCall(id);
    }
    for (const fault of faults) this.refuse(policy, binding.name, fault, 'Invalid');
    const millis = this.env.clock.monotonic() - began;
    const isDenied = faults.length > 0 && !policy.failOpen;
    this.metrics.checked(
      policy.name,
      binding.name,
      isDenied ? 'deny' : 'allow',
      faults.length > 0 ? 'invalid_error' : 'no_error',
      millis / 1000,
    );
    request.explanation?.add({
      step: `${NAME}/${policy.name}/${binding.name}`,
      phase: 'admit',
      round: this.isAgain ? 1 : 0,
      millis,
      changes,
      ...(isDenied && { refused: faults.join('; ') }),
      ...(faults.length > 0 && !isDenied && { note: `failed and was passed over: ${faults.join('; ')}` }),
      ...(outcome.met === false && { note: `its condition ${JSON.stringify(outcome.condition)} is false` }),
    });
  }

  private *mutate({ served, params }: PolicyMeeting, mutations: PolicyMutations, index: number, faults: string[]): Work<void> {
    yield;
    const mutation = yield* mutations.evaluate(index, { ...(yield* this.values.in(served)), params });
    if (mutation.type === 'fault') {
      faults.push(mutation.fault);
      return;
    }
    yield mutate(this.env, this.request, served, mutation).catch((error: unknown) => {
      if (!(error instanceof MutationFault)) throw error;
      faults.push(error.message);
    });
  }

  private changed(objectBefore: AdmissionRequest['object']): Changes {
    const { request } = this;
    this.rounds.wantEarlier();
    if (!this.isAgain) request.reinvocation = 'wanted';
    return request.explanation === undefined ? noChanges : changesBetween(objectBefore as never, request.object as never);
  }
}
