/**
 * Maintains the bootstrap FlowSchemas and PriorityLevelConfigurations while the server runs:
 *
 *   mandatory    recreated when they are missing, repaired when they differ
 *   suggested    recreated when they are missing; repaired when the annotation is `true`, or is absent and the spec is
 *                unchanged (generation 1); with `false` they belong to their owner
 *   others       with `true` they are of an earlier release, and are removed
 */

import { mandatoryLevels, mandatorySchemas } from '@plat-dev/kinds/flowcontrol/mandatory-objects';
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { LiveSource, LiveView } from '@plat-dev/kinds/live-view';
import { equal } from '@plat-dev/lib/equal';
import { own } from '@plat-dev/lib/own';
import { ApiError } from '@plat-dev/meta/errors';

const GROUP = 'flowcontrol.apiserver';
type Plural = 'flowschemas' | 'prioritylevelconfigurations';
export type FlowObject = ApiObject & { spec: object };

export interface FlowUpkeepOptions {
  readonly live: LiveSource;
  /** The wanted objects, in the normal form. */
  readonly wantedObjects: Readonly<Record<Plural, readonly FlowObject[]>>;
  /** Whether the server keeps an object up to date. */
  readonly annotation: string;
  readonly create: (plural: Plural, object: FlowObject) => Promise<unknown>;
  readonly change: (plural: Plural, name: string, change: (object: ApiObject) => void) => Promise<void>;
  readonly remove: (plural: Plural, name: string) => Promise<void>;
  readonly report: (error: unknown) => void;
}

/** Returns the function that ends it. */
export function keepFlowObjects(options: FlowUpkeepOptions): () => void {
  const views = {
    prioritylevelconfigurations: options.live<FlowObject>(GROUP, 'prioritylevelconfigurations'),
    flowschemas: options.live<FlowObject>(GROUP, 'flowschemas'),
  };
  let state: 'idle' | 'running' | 'again' | 'ended' = 'idle';
  const run = async (): Promise<void> => {
    // Changes during a round are handled in another one; there are few objects.
    while (state === 'again') {
      state = 'running';
      for (const plural of Object.keys(views) as Plural[]) await settle(options, plural, views[plural]);
    }
    if (state === 'running') state = 'idle';
  };
  const look = (): void => {
    if (state === 'ended') return;
    const idle = state === 'idle';
    state = 'again';
    if (idle) queueMicrotask(() => void run().catch(options.report));
  };
  const ends = Object.values(views).map((view) => view.onChange(look));
  look();
  return () => {
    state = 'ended';
    for (const end of ends) end();
  };
}

async function settle(options: FlowUpkeepOptions, plural: Plural, live: LiveView<FlowObject>): Promise<void> {
  const wantedByName = new Map(options.wantedObjects[plural].map((object) => [object.metadata.name ?? '', object]));
  for (const [name, object] of wantedByName) await attempt(options, () => put(options, plural, name, object, live.get('', name)));
  for (const { metadata } of live.list()) {
    const { name = '', annotations } = metadata;
    if (!wantedByName.has(name) && own(annotations, options.annotation) === 'true')
      await attempt(options, () => options.remove(plural, name));
  }
}

async function put(
  { annotation, create, change }: FlowUpkeepOptions,
  plural: Plural,
  name: string,
  wantedObject: FlowObject,
  present: FlowObject | undefined,
): Promise<void> {
  if (present === undefined) {
    await create(plural, wantedObject);
    return;
  }
  const mandatory = (plural === 'flowschemas' ? mandatorySchemas : mandatoryLevels).has(name);
  const autoUpdate = own(present.metadata.annotations, annotation);
  const ours = mandatory || autoUpdate === 'true' || (autoUpdate !== 'false' && (present.metadata.generation ?? 1) === 1);
  const right = String(ours);
  if (autoUpdate === right && (!ours || equal(present.spec, wantedObject.spec))) return;
  await change(plural, name, (object) => {
    object.metadata.annotations = { ...object.metadata.annotations, [annotation]: right };
    if (ours) (object as FlowObject).spec = structuredClone(wantedObject.spec);
  });
}

/** One object that cannot be repaired does not block the others. */
async function attempt({ report }: FlowUpkeepOptions, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    // It is deleted, or another server was faster: the change of the object triggers another round.
    if (!(error instanceof ApiError && (error.code === 404 || error.code === 409))) report(error);
  }
}
