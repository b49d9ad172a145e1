/** Which nodes run a pod of a daemon set. */
import type { Node } from '@plat-dev/kinds/core/schema/node';
import type { Toleration } from '@plat-dev/kinds/core/schema/pods/scheduling';
import type { Part, Wire } from '@plat-dev/kinds/wire';
import { equal } from '@plat-dev/lib/equal';
import type { Identity } from '@plat-dev/meta/identity';
import { type NodeTest, requiredNodes, untoleratedTaint } from '../scheduler/node-match.ts';
import type { Template } from '../shared/pod-control.ts';
import { daemonTolerations } from './daemon-pod.ts';

export type NodeObject = Wire<Node>;

/** `run`: the node should have a pod. `stay`: a pod that it has is not deleted. */
export interface Fit {
  readonly run: boolean;
  readonly stay: boolean;
}
const fits: Fit = { run: true, stay: true };
const stays: Fit = { run: false, stay: true };
const unfit: Fit = { run: false, stay: false };

export class Placement {
  readonly tolerations: Part<Toleration>[];
  private readonly nodeName: string;
  private readonly selects: NodeTest | undefined;

  constructor(template: Template, identity: Identity) {
    this.tolerations = daemonTolerations(template, identity);
    this.nodeName = template.spec?.nodeName ?? '';
    this.selects = requiredNodes(template.spec ?? ({} as NonNullable<Template['spec']>));
  }
  of({ metadata, spec }: NodeObject): Fit {
    const { name = '', labels = {} } = metadata;
    if (this.nodeName !== '' && this.nodeName !== name) return unfit;
    if (this.selects?.({ name, labels }) === false) return unfit;
    const taints = spec?.taints ?? [];
    if (untoleratedTaint(this.tolerations, taints) === undefined) return fits;
    // A pod that runs is only driven away by a taint that says so.
    const driven = untoleratedTaint(
      this.tolerations,
      taints.filter(({ effect }) => effect === 'NoExecute'),
    );
    return driven === undefined ? stays : unfit;
  }
}

/** Whether a change of a node can change where pods run: most are of its status. */
export const isPlacedDifferently = (old: NodeObject, now: NodeObject): boolean =>
  !equal(old.metadata.labels, now.metadata.labels) || !equal(old.spec?.taints, now.spec?.taints);
