/** Keeps the flow schemas and priority levels of the first start, with the rights of the server itself. */
import type { Identity } from '../identity.ts';
import type { LiveSource } from '../kinds/live.ts';
import type { Log } from '../lib/log.ts';
import { formatTime } from '../meta/time.ts';
import { autoUpdateAnnotation, flowSchemas, priorityLevels } from '../registry/bootstrap/flow-control.ts';
import type { SystemWriter } from '../registry/system.ts';
import { type FlowObject, keepFlowObjects } from '../server/fairness/upkeep.ts';

const GROUP = 'flowcontrol.apiserver';

export interface FlowUpkeep {
  readonly identity: Identity;
  readonly live: LiveSource;
  readonly writer: SystemWriter;
  readonly now: number;
  readonly log: Log;
}

/** Answers the function that ends it. */
export function composeFlowUpkeep({ identity, live, writer, now, log }: FlowUpkeep): () => void {
  const normal = (plural: string) => (object: { metadata: { name: string } }) => writer.normalForm(GROUP, plural, object) as FlowObject;
  return keepFlowObjects({
    live,
    annotation: autoUpdateAnnotation(identity),
    wanted: {
      prioritylevelconfigurations: priorityLevels(identity).map(normal('prioritylevelconfigurations')),
      flowschemas: flowSchemas(identity, formatTime(now)).map(normal('flowschemas')),
    },
    create: (plural, object) => writer.ensure(GROUP, plural, object),
    change: (plural, name, change) => writer.change(GROUP, plural, '', name, change),
    remove: (plural, name) => writer.remove(GROUP, plural, '', name),
    report: (error) => log.error('cannot write flow control objects', { error: String(error) }),
  });
}
