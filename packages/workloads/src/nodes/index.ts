/**
 * Simulated nodes: Node objects with leases and heartbeats, whose pods go through their life cycle without any container.
 *
 *   simulatedNodes({ count: 3 })    node-0, node-1 and node-2
 *
 * A Node that has the annotation `simulation.<domain>/node: "true"` is simulated too.
 */

import { type Controller, type ControllerContext, refs } from '@plat-dev/controllers/runtime/controller';
import type { Namespace } from '@plat-dev/kinds/core/schema/namespace';
import type { Wire } from '@plat-dev/kinds/wire';
import type { WorkloadPod } from '../shared/pods.ts';
import type { Annotations } from './annotations.ts';
import { Configuration } from './configuration.ts';
import { ContainerFiles } from './container-files.ts';
import { Fleet } from './fleet.ts';
import { Heartbeats } from './heartbeats.ts';
import { LifecycleChoice } from './lifecycle/choose.ts';
import { LifecycleIndex } from './lifecycle/lifecycle-index.ts';
import { registerMetrics } from './metrics/registration.ts';
import { USUAL_NAMESERVER } from './network-files.ts';
import { NodePods } from './node-pods.ts';
import { DEFAULT_POOL, KEPT_DISKS, type SimulatedNodesSettings } from './settings.ts';

export type { SimulatedNodesSettings } from './settings.ts';

export function simulatedNodes(settings: SimulatedNodesSettings): Controller {
  return {
    name: 'simulated-nodes',
    user: 'nodes',
    start: (context) => start(context, settings),
  };
}

function start(context: ControllerContext, settings: SimulatedNodesSettings): void {
  const { informers, identity } = context;
  const {
    events = true,
    kinds = true,
    metrics = true,
    disks = new ContainerFiles(KEPT_DISKS),
    nameserver = USUAL_NAMESERVER,
    ...pool
  } = settings;
  if (metrics) registerMetrics(context);
  const choice = new LifecycleChoice(identity);
  const namespaces = informers.of<Wire<Namespace>>(refs.namespaces);
  const fleet = new Fleet(context);
  const heartbeats = new Heartbeats(context, fleet);
  const configuration = kinds ? new Configuration(context, fleet) : undefined;
  const lifecycles = configuration?.lifecycles ?? new LifecycleIndex();
  const ofNamespace = ({ metadata }: WorkloadPod): Annotations => namespaces.get('', metadata.namespace ?? '')?.metadata.annotations;
  const pods = new NodePods(context, fleet, {
    events,
    nameserver,
    disks,
    ofNamespace,
    choose: (pod) => choice.choose(pod, ofNamespace(pod), lifecycles),
  });
  configuration?.follow((isAffected) => pods.again(isAffected));
  const changed = context.queue((name) => pods.again(({ metadata }) => metadata.namespace === name), {
    name: 'simulated-nodes-namespaces',
  });
  namespaces.onChange(({ type, object, old }) => {
    if (type === 'modified' && !choice.isSame(old?.metadata.annotations, object.metadata.annotations))
      changed.add(object.metadata.name ?? '');
  });
  fleet.follow({
    up: (name) => {
      heartbeats.begin(name);
      pods.begin(name);
    },
    down: (name) => heartbeats.end(name),
    gone: (name) => heartbeats.forget(name),
  });
  fleet.setPool({ ...pool, name: DEFAULT_POOL });
}
