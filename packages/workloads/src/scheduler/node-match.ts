/** Which nodes a pod may use by their labels, names and taints. */

import type { NodeSelectorTerm, Taint, Toleration } from '@plat-dev/kinds/core/schema/pods/scheduling';
import type { Part } from '@plat-dev/kinds/wire';
import { own } from '@plat-dev/lib/own';
import { type LabelOperator, type LabelRequirement, LabelSelector, type Labels } from '@plat-dev/meta/labels';
import type { WorkloadPod } from '../shared/pods.ts';

/** The part of a node that selectors look at. */
interface Selectable {
  readonly name: string;
  readonly labels: Labels;
}
export type NodeTest = (node: Selectable) => boolean;

type Term = Part<NodeSelectorTerm>;
type Requirement = NonNullable<Term['matchExpressions']>[number];
type Spec = NonNullable<WorkloadPod['spec']>;

const operators: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
  Gt: 'gt',
  Lt: 'lt',
};
const never: NodeTest = () => false;

/** The terms are alternatives; without any, no node matches. */
export function nodeSelectorTest(terms: readonly Term[] | null | undefined): NodeTest {
  const tests = (terms ?? []).map(nodeTermTest);
  const [only] = tests;
  if (tests.length <= 1) return only ?? never;
  return (node) => tests.some((test) => test(node));
}

/** All requirements of a term hold. A term without any selects no node. */
function nodeTermTest({ matchExpressions, matchFields }: Term): NodeTest {
  const expressions = matchExpressions ?? [];
  const fields = matchFields ?? [];
  if (expressions.length === 0 && fields.length === 0) return never;
  const selector = selectorOf(expressions);
  const names = fields.map(nameTest);
  if (selector === undefined) return never;
  return (node) => selector.matches(node.labels) && names.every((test) => test(node.name));
}

/** Undefined for requirements that no label can meet, such as a bound that is not a number. */
function selectorOf(expressions: readonly Requirement[]): LabelSelector | undefined {
  const requirements: LabelRequirement[] = [];
  for (const { key, operator, values } of expressions) {
    const labelOperator = own(operators, operator);
    const sortedValues = [...new Set(values ?? [])].sort();
    if (labelOperator === undefined || ((labelOperator === 'gt' || labelOperator === 'lt') && !/^-?\d{1,30}$/.test(sortedValues[0] ?? '')))
      return undefined;
    requirements.push({ key, operator: labelOperator, values: sortedValues });
  }
  return new LabelSelector(requirements);
}

/** The name is the only field of a node that can be selected. */
function nameTest({ key, operator, values }: Requirement): (name: string) => boolean {
  const names = new Set(values ?? []);
  if (key !== 'metadata.name') return () => false;
  if (operator === 'In') return (name) => names.has(name);
  return operator === 'NotIn' ? (name) => !names.has(name) : () => false;
}

/** The node selector and the required node affinity of a pod; undefined where every node matches. */
export function requiredNodes({ nodeSelector, affinity }: Pick<Spec, 'nodeSelector' | 'affinity'>): NodeTest | undefined {
  const labels = Object.entries(nodeSelector ?? {});
  const selector =
    labels.length === 0 ? undefined : new LabelSelector(labels.map(([key, value]) => ({ key, operator: '=', values: [value] })));
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required === undefined ? undefined : nodeSelectorTest(required.nodeSelectorTerms);
  if (selector === undefined) return terms;
  if (terms === undefined) return (node) => selector.matches(node.labels);
  return (node) => selector.matches(node.labels) && terms(node);
}

/** The only nodes that the required affinity names, as that of pods of daemon sets does; undefined where it names none. */
export function namedNodes({ affinity }: Pick<Spec, 'affinity'>): ReadonlySet<string> | undefined {
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const all = new Set<string>();
  for (const { matchFields } of terms) {
    const fields = (matchFields ?? []).filter(({ key, operator }) => key === 'metadata.name' && operator === 'In');
    const [first, ...rest] = fields.map(({ values }) => new Set(values ?? []));
    if (first === undefined) return undefined;
    for (const name of first) if (rest.every((names) => names.has(name))) all.add(name);
  }
  return terms.length === 0 ? undefined : all;
}

export interface PreferredNodes {
  readonly weight: number;
  readonly test: NodeTest;
}

/** Preferred node affinity. An empty preference has no effect. */
export function preferredNodes({ affinity }: Pick<Spec, 'affinity'>): PreferredNodes[] {
  const terms = affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.flatMap(({ weight, preference }) =>
    weight === 0 || preference === undefined ? [] : [{ weight, test: nodeTermTest(preference) }],
  );
}

export function tolerates({ key = '', operator = '', value = '', effect = '' }: Part<Toleration>, taint: Part<Taint>): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Lt' || operator === 'Gt') return compares(operator, value, taint.value ?? '');
  return operator === 'Exists' || ((operator === '' || operator === 'Equal') && value === (taint.value ?? ''));
}

/** Whether the value of a taint is a number below (Lt) or above (Gt) that of the toleration. */
function compares(operator: 'Lt' | 'Gt', bound: string, value: string): boolean {
  if (!isInteger.test(bound) || !isInteger.test(value)) return false;
  return operator === 'Lt' ? BigInt(value) < BigInt(bound) : BigInt(value) > BigInt(bound);
}
const isInteger = /^-?\d{1,19}$/;

const toleratesAny = (tolerations: readonly Part<Toleration>[], taint: Part<Taint>): boolean =>
  tolerations.some((toleration) => tolerates(toleration, taint));

/** The first taint that keeps the pod away. */
export function untoleratedTaint(
  tolerations: readonly Part<Toleration>[],
  taints: readonly Part<Taint>[] | undefined,
): Part<Taint> | undefined {
  return taints?.find((taint) => taint.effect !== 'PreferNoSchedule' && !toleratesAny(tolerations, taint));
}

/** How many taints ask pods such as this one to prefer other nodes. */
export function unwelcomeTaints(tolerations: readonly Part<Toleration>[], taints: readonly Part<Taint>[] | undefined): number {
  let count = 0;
  for (const taint of taints ?? []) {
    if (taint.effect === 'PreferNoSchedule' && !toleratesAny(tolerations, taint)) count++;
  }
  return count;
}
