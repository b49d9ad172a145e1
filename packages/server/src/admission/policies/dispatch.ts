/** What validating and mutating policies have in common: which policies, bindings and parameters a request meets. */
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import type { Work } from '@plat-dev/lib/slices';
import type { JsonValue } from '@plat-dev/schema/types';
import type { Candidate } from '../matching/match.ts';
import { Namespaces } from '../matching/namespaces.ts';
import type { PluginEnv } from '../plugin.ts';
import type { AdmissionRequest } from '../types.ts';
import { ConfigurationFault, parametersOf, paramKindOf } from './parameters.ts';
import type { Binding, BindingObject, BoundPolicy, PolicyObject, PolicySource } from './policy-source.ts';

/** A policy that a request meets, by a binding and with a parameter. */
export interface Meeting<P, B> {
  readonly policy: BoundPolicy<P, B>;
  readonly binding: Binding<B>;
  /** The version in which the policy takes the object. */
  readonly served: ServedKind;
  readonly params: JsonValue;
}
/** Takes what a policy or a binding, where it is known, cannot be used for. */
export type ReportFault<P, B> = (policy: BoundPolicy<P, B>, binding: Binding<B> | undefined, fault: string) => void;

export class PolicyDispatcher<P extends PolicyObject, B extends BindingObject> {
  readonly namespaces: Namespaces;
  private readonly env: PluginEnv;
  private readonly source: PolicySource<P, B>;

  constructor(env: PluginEnv, source: PolicySource<P, B>) {
    this.env = env;
    this.source = source;
    this.namespaces = new Namespaces(env);
  }

  /** Policies with matching rules, in order of their names. */
  candidates({ served, subresource, operation }: AdmissionRequest): readonly Candidate<BoundPolicy<P, B>>[] {
    return this.source.current().candidates(served, subresource, operation, this.env.webhooks.equivalents);
  }

  /** The meetings of a request with one policy. Each is dealt with before the next is looked for. */
  *meet(
    candidate: Candidate<BoundPolicy<P, B>>,
    request: AdmissionRequest,
    report: ReportFault<P, B>,
    meet: (meeting: Meeting<P, B>) => Work<void>,
  ): Work<void> {
    const policy = candidate.target;
    const served = this.namespaces.match(candidate, request);
    if (served === undefined) return;
    const faultOf = configurationFault(policy, report);
    const { paramKind } = policy.object.spec;
    let paramServed: ServedKind | undefined;
    try {
      paramServed = paramKind && paramKindOf(this.env, paramKind);
    } catch (error) {
      faultOf(error, undefined);
      return;
    }
    const { served: requested, subresource, operation, namespace } = request;
    for (const bound of policy.bindings.candidates(requested, subresource, operation, this.env.webhooks.equivalents)) {
      yield;
      if (this.namespaces.match(bound, request) === undefined) continue;
      const binding = bound.target;
      let parameters: readonly JsonValue[] = [];
      try {
        parameters = yield* parametersOf(this.env, paramServed, binding.object.spec.paramRef, namespace);
      } catch (error) {
        faultOf(error, binding);
      }
      for (const params of parameters) yield* meet({ policy, binding, served, params });
    }
  }
}

const configurationFault =
  <P, B>(policy: BoundPolicy<P, B>, report: ReportFault<P, B>) =>
  (error: unknown, binding: Binding<B> | undefined): void => {
    if (!(error instanceof ConfigurationFault)) throw error;
    report(policy, binding, `failed to configure ${binding === undefined ? 'policy' : 'binding'}: ${error.message}`);
  };
