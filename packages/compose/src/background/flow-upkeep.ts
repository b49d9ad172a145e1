/** Maintains the bootstrap FlowSchemas and PriorityLevelConfigurations, with the rights of the server itself. */
import { releaseEnv } from '@plat-dev/kinds/kind';
import type { LiveSource } from '@plat-dev/kinds/live-view';
import { formatTime } from '@plat-dev/meta/time';
import { type FlowObject, keepFlowObjects } from '@plat-dev/server/fairness/flow-objects';
import { keepFlowStatus } from '@plat-dev/server/fairness/flow-status';
import { autoUpdateAnnotation, flowSchemas, priorityLevels } from '@plat-dev/server/registry/bootstrap/flow-control';
import type { SystemWriter } from '@plat-dev/server/registry/system';
import type { Base } from '../base.ts';

const GROUP = 'flowcontrol.apiserver';

/** Maintains the conditions of FlowSchemas. Returns the function that ends it. */
export function composeFlowStatus({ clock, log }: Base, live: LiveSource, writer: SystemWriter): () => void {
  return keepFlowStatus({
    live,
    changeStatus: (name, change) => writer.change(GROUP, 'flowschemas', '', name, change, 'status'),
    now: () => clock.now(),
    report: (error) => log.error('cannot update FlowSchema status', { error: String(error) }),
  });
}

/** Returns the function that ends it. */
export function composeFlowUpkeep({ identity, options, clock, log }: Base, live: LiveSource, writer: SystemWriter): () => void {
  const normal = (plural: string) => (object: { metadata: { name: string } }) => writer.normalForm(GROUP, plural, object) as FlowObject;
  return keepFlowObjects({
    live,
    annotation: autoUpdateAnnotation(identity),
    wantedObjects: {
      prioritylevelconfigurations: priorityLevels(identity, releaseEnv(options.apiRelease)).map(normal('prioritylevelconfigurations')),
      flowschemas: flowSchemas(identity, formatTime(clock.now()), releaseEnv(options.apiRelease)).map(normal('flowschemas')),
    },
    create: (plural, object) => writer.ensure(GROUP, plural, object),
    change: (plural, name, change) => writer.change(GROUP, plural, '', name, change),
    remove: (plural, name) => writer.remove(GROUP, plural, '', name),
    report: (error) => log.error('cannot write flow control objects', { error: String(error) }),
  });
}
