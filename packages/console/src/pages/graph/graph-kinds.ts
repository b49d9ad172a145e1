/** The kinds whose objects the graph of a namespace shows. */
import type { Kind } from '../../api/kinds.ts';
import type { SetOfKind } from '../../api/several-kinds.ts';
import { isBuiltIn } from '../../api/usual-kinds.ts';

interface GraphKind {
  readonly group: RegExp;
  readonly resource: string;
}

/** Read as a whole: their states and references are shown. */
const whole: readonly GraphKind[] = [
  { group: /^networking\./, resource: 'ingresses' },
  { group: /^$/, resource: 'services' },
  { group: /^apps$/, resource: 'deployments' },
  { group: /^apps$/, resource: 'statefulsets' },
  { group: /^apps$/, resource: 'daemonsets' },
  { group: /^batch$/, resource: 'cronjobs' },
  { group: /^batch$/, resource: 'jobs' },
  { group: /^apps$/, resource: 'replicasets' },
  { group: /^autoscaling$/, resource: 'horizontalpodautoscalers' },
  { group: /^$/, resource: 'pods' },
  { group: /^$/, resource: 'persistentvolumeclaims' },
];

export const MOST_OF_A_KIND = 1000;
/** A connection has 64 watches; other parts of the page need some. */
const MOST_CUSTOM = 30;

/** Of custom kinds only what owns what is read. */
export function graphSets(kinds: readonly Kind[]): SetOfKind[] {
  const listed = kinds.filter(({ verbs, isNamespaced }) => isNamespaced && verbs.includes('list'));
  const usual = whole.flatMap(({ group, resource }) => listed.find((kind) => group.test(kind.group) && kind.resource === resource) ?? []);
  const custom = listed.filter((kind) => !isBuiltIn(kind)).slice(0, MOST_CUSTOM);
  return [
    ...usual.map((kind) => ({ kind, maximum: MOST_OF_A_KIND })),
    ...custom.map((kind) => ({ kind, maximum: MOST_OF_A_KIND, isMetadataOnly: true })),
  ];
}
