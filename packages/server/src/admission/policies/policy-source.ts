/**
 * Policies and their bindings, ready to be matched: joined again when one of them changes, and compiled when a request first needs it.
 * P is a policy, B a binding of it.
 */
import type { BindingSpec, MatchResources, ParamKind } from '@plat-dev/kinds/admissionregistration/schema/policies';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { LiveView } from '@plat-dev/kinds/live-view';
import type { ServedKind } from '@plat-dev/kinds/served-kind';
import { everyLabel, fromLabelSelector } from '@plat-dev/meta/labels';
import { type Criteria, Matcher } from '../matching/match.ts';
import type { PluginEnv } from '../plugin.ts';

export type PolicyObject = ApiObject & {
  readonly spec: { readonly paramKind?: ParamKind; readonly matchConstraints?: MatchResources; readonly failurePolicy?: string };
};
export type BindingObject = ApiObject & { readonly spec: BindingSpec };

export interface BoundPolicy<P, B> extends Criteria {
  readonly name: string;
  readonly object: P;
  readonly failOpen: boolean;
  readonly bindings: Matcher<Binding<B>>;
}
export interface Binding<B> extends Criteria {
  readonly name: string;
  readonly object: B;
}

const GROUP = 'admissionregistration';

/** The resources that a plug-in reads. */
export interface PolicyPlurals {
  readonly policies: string;
  readonly bindings: string;
}

export class PolicySource<P extends PolicyObject, B extends BindingObject> {
  private readonly policies: LiveView<P>;
  private readonly bindings: LiveView<B>;
  private policiesAsOf = -1;
  private bindingsAsOf = -1;
  private matcher = new Matcher<BoundPolicy<P, B>>([]);

  private constructor(policies: LiveView<P>, bindings: LiveView<B>) {
    this.policies = policies;
    this.bindings = bindings;
  }

  /** Undefined where policies are not served: they could neither be read nor deleted, and are ignored. */
  static of<P extends PolicyObject, B extends BindingObject>(
    env: PluginEnv,
    plurals: PolicyPlurals,
    prepare: () => void,
  ): PolicySource<P, B> | undefined {
    if (!env.serves(GROUP, plurals.policies) || !env.serves(GROUP, plurals.bindings)) return undefined;
    const policies = env.live<P>(GROUP, plurals.policies);
    policies.onChange(prepare);
    policies.whenLoaded(() => {
      if (policies.list(undefined, 1).length > 0) prepare();
    });
    return new PolicySource(policies, env.live<B>(GROUP, plurals.bindings));
  }

  current(): Matcher<BoundPolicy<P, B>> {
    const { policies, bindings } = this;
    if (this.policiesAsOf !== policies.generation || this.bindingsAsOf !== bindings.generation) {
      this.policiesAsOf = policies.generation;
      this.bindingsAsOf = bindings.generation;
      this.matcher = new Matcher(boundPolicies(policies.list(), bindings.list()), isExempt);
    }
    return this.matcher;
  }
}

function boundPolicies<P extends PolicyObject, B extends BindingObject>(
  policies: readonly P[],
  bindings: readonly B[],
): BoundPolicy<P, B>[] {
  const byPolicy = new Map<string, Binding<B>[]>();
  for (const object of bindings) {
    const { policyName = '', matchResources } = object.spec;
    const binding = {
      name: object.metadata.name ?? '',
      object,
      ...(matchResources === undefined ? everything : criteriaOf(matchResources, true)),
    };
    const others = byPolicy.get(policyName);
    if (others === undefined) byPolicy.set(policyName, [binding]);
    else others.push(binding);
  }
  return policies.flatMap((object) => {
    const name = object.metadata.name ?? '';
    const own = byPolicy.get(name) ?? [];
    // Without a binding a policy has no effect, unless its kind of parameters does not exist.
    if (own.length === 0 && object.spec.paramKind === undefined) return [];
    const failOpen = object.spec.failurePolicy === 'Ignore';
    return [{ name, object, failOpen, bindings: new Matcher(own), ...criteriaOf(object.spec.matchConstraints ?? {}, false) }];
  });
}

/** A binding without rules is for all resources of its policy. */
function criteriaOf(resources: MatchResources, forBinding: boolean): Criteria {
  const { resourceRules = [], excludeResourceRules = [], namespaceSelector, objectSelector, matchPolicy } = resources;
  return {
    rules: forBinding && resourceRules.length === 0 ? undefined : resourceRules,
    excludedRules: excludeResourceRules,
    namespaceSelector: fromLabelSelector(namespaceSelector ?? {}),
    objectSelector: fromLabelSelector(objectSelector ?? {}),
    equivalent: (matchPolicy ?? 'Equivalent') === 'Equivalent',
  };
}
const everything: Criteria = { rules: undefined, namespaceSelector: everyLabel, objectSelector: everyLabel, equivalent: true };

const reviews: ReadonlySet<string> = new Set([
  ...['selfsubjectreviews', 'tokenreviews'].map((plural) => `authentication/${plural}`),
  ...['localsubjectaccessreviews', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'subjectaccessreviews'].map(
    (plural) => `authorization/${plural}`,
  ),
]);
/** Whoever writes policies must be able to find out what is wrong with them. */
const isExempt = ({ kind, custom }: ServedKind): boolean =>
  !custom && (kind.group === GROUP || reviews.has(`${kind.group}/${kind.plural}`));
