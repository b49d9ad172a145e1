/** While a pod is held by scheduling gates, the nodes that it may run on can become fewer, but no others. */
import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import type { FieldErrors, Path } from '@plat-dev/meta/field';
import type { PodSpec } from '../../core/schema/pods/pod.ts';
import type { NodeSelectorTerm } from '../../core/schema/pods/scheduling.ts';

const hard = 'requiredDuringSchedulingIgnoredDuringExecution';

export function validateNarrowing(spec: PodSpec, old: PodSpec, at: Path, errors: FieldErrors): void {
  const { nodeSelector } = spec;
  if (Object.entries(old.nodeSelector ?? {}).some(([key, value]) => own(nodeSelector, key) !== value))
    errors.invalid(at.child('nodeSelector'), nodeSelector, 'only additions to spec.nodeSelector are allowed (no mutations or deletions)');
  const oldTerms = old.affinity?.nodeAffinity?.[hard]?.nodeSelectorTerms ?? [];
  if (oldTerms.length === 0) return;
  const terms = spec.affinity?.nodeAffinity?.[hard]?.nodeSelectorTerms ?? [];
  const termsAt = at.child('affinity').child('nodeAffinity').child(hard).child('nodeSelectorTerms');
  if (terms.length !== oldTerms.length) {
    errors.invalid(termsAt, terms, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed');
    return;
  }
  terms.forEach((term, i) => {
    if (!isNarrower(term, oldTerms[i] as NodeSelectorTerm))
      errors.invalid(termsAt.index(i), term, 'only additions are allowed (no mutations or deletions)');
  });
}

/** An empty term selects no node: additions would make it select some. */
function isNarrower(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const lists = (['matchExpressions', 'matchFields'] as const).map((field) => ({ now: term[field] ?? [], before: old[field] ?? [] }));
  if (lists.every(({ before }) => before.length === 0)) return lists.every(({ now }) => now.length === 0);
  return lists.every(({ now, before }) => before.every((requirement, i) => equal(now[i], requirement)));
}
