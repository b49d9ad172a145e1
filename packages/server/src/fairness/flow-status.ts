/**
 * Reports in the status of every FlowSchema whether its priority level exists. A schema whose level is
 * missing matches nothing, and an administrator sees why.
 */
import type { FlowSchema, FlowSchemaCondition, PriorityLevelConfiguration } from '@plat-dev/kinds/flowcontrol/schema/v1beta2';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { LiveSource, LiveView } from '@plat-dev/kinds/live-view';
import { ApiError } from '@plat-dev/meta/errors';
import { formatTime } from '@plat-dev/meta/time';

const GROUP = 'flowcontrol.apiserver';
const SCHEMAS = 'flowschemas';
const TYPE = 'Dangling';

export interface FlowStatusOptions {
  readonly live: LiveSource;
  /** Changes the status of a flow schema. */
  readonly changeStatus: (name: string, change: (object: ApiObject) => void) => Promise<void>;
  readonly now: () => number;
  readonly report: (error: unknown) => void;
}

/** Returns the function that ends it. */
export function keepFlowStatus(options: FlowStatusOptions): () => void {
  const schemas = options.live<FlowSchema>(GROUP, SCHEMAS);
  const levels = options.live<PriorityLevelConfiguration>(GROUP, 'prioritylevelconfigurations');
  let state: 'idle' | 'running' | 'again' | 'ended' = 'idle';
  const run = async (): Promise<void> => {
    // Changes during a round are handled in another one; there are few schemas.
    while (state === 'again') {
      state = 'running';
      for (const schema of schemas.list()) await updateStatus(schema, levels, options);
    }
    if (state === 'running') state = 'idle';
  };
  const look = (): void => {
    if (state === 'ended') return;
    const idle = state === 'idle';
    state = 'again';
    if (idle) queueMicrotask(() => void run().catch(options.report));
  };
  const ends = [schemas.onChange(look), levels.onChange(look)];
  look();
  return () => {
    state = 'ended';
    for (const end of ends) end();
  };
}

function wantedCondition(level: string, exists: boolean): Omit<FlowSchemaCondition, 'lastTransitionTime'> {
  const levelText = `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)}`;
  return exists
    ? { type: TYPE, status: 'False', reason: 'Found', message: `${levelText} and it exists` }
    : { type: TYPE, status: 'True', reason: 'NotFound', message: `${levelText} but there is no such object` };
}

async function updateStatus(schema: FlowSchema, levels: LiveView, { changeStatus, now, report }: FlowStatusOptions): Promise<void> {
  const { name = '' } = schema.metadata;
  const level = schema.spec.priorityLevelConfiguration.name;
  const wantedState = wantedCondition(level, levels.get('', level) !== undefined);
  const current = schema.status.conditions?.find(({ type }) => type === TYPE);
  const unchanged = current !== undefined && current.status === wantedState.status;
  if (unchanged && current.message === wantedState.message) return;
  try {
    await changeStatus(name, (object) => {
      const { status } = object as FlowSchema;
      const others = (status.conditions ?? []).filter(({ type }) => type !== TYPE);
      status.conditions = [
        ...others,
        { ...wantedState, lastTransitionTime: (unchanged && current.lastTransitionTime) || formatTime(now()) },
      ];
    });
  } catch (error) {
    // A schema that was deleted meanwhile needs no status.
    if (!(error instanceof ApiError && error.code === 404)) report(error);
  }
}
