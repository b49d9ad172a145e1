/**
 * Which life cycle a pod has. Annotations of the pod come first, then those of its namespace, then the PodLifecycle objects that
 * select it in the order of their names, then the quick one.
 *
 *   simulation.plat.dev/slow-pull: 30s        simulation.plat.dev/complete-after: 5s     simulation.plat.dev/exit-code: "3"
 *   simulation.plat.dev/never-ready: "true"   simulation.plat.dev/crash-loop: "true"     simulation.plat.dev/oom.sidecar: "true"
 */

import { equal } from '@plat-dev/lib/equal';
import { type Identity, simulationName } from '@plat-dev/meta/identity';
import { TimeError } from '@plat-dev/meta/time';
import { Lifecycles, STAGES_LIMIT, type StageSpec } from './lifecycle.ts';
import type { ChosenFor, LifecycleIndex } from './lifecycle-index.ts';

/** By the name of the annotation: the stage that its value makes. */
const stageOf = new Map<string, (value: string) => StageSpec | undefined>([
  ['slow-pull', (delay) => ({ stage: 'pull', delay })],
  ['pull-error', (value) => (isTrue(value) ? { stage: 'pull', fails: true } : undefined)],
  ['ready-after', (delay) => ({ stage: 'ready', delay })],
  ['never-ready', (value) => (isTrue(value) ? { stage: 'ready', never: true } : undefined)],
  ['use-probes', (value) => ({ stage: 'ready', probes: isTrue(value) })],
  ['unhealthy-after', (delay) => ({ stage: 'live', delay })],
  ['stop-after', (delay) => ({ stage: 'terminate', delay })],
  ['fail', (value) => (isTrue(value) ? { stage: 'exit', exitCode: 1 } : undefined)],
  ['crash-loop', (value) => (isTrue(value) ? { stage: 'exit', exitCode: 1 } : undefined)],
  ['oom', (value) => (isTrue(value) ? { stage: 'exit', exitCode: 137, reason: 'OOMKilled' } : undefined)],
  ['complete-after', (delay) => (delay === 'never' ? { stage: 'exit', never: true } : { stage: 'exit', delay })],
  ['exit-code', (code) => ({ stage: 'exit', exitCode: exitCodeOf(code) })],
  ['termination-message', (message) => ({ stage: 'exit', message })],
]);
const isTrue = (value: string): boolean => value !== 'false';

class ValueError extends Error {}

function exitCodeOf(text: string): number {
  if (!/^\d{1,3}$/.test(text) || Number(text) > 255) throw new ValueError(`${JSON.stringify(text)} is no exit code`);
  return Number(text);
}

type Annotations = Readonly<Record<string, string>> | undefined;

export interface ChosenLifecycle {
  readonly lifecycles: Lifecycles;
  /** What is wrong with the annotations; those are not used. */
  readonly problem?: string;
}
interface Annotated {
  readonly stages: readonly StageSpec[];
  readonly problem?: string;
}

export class LifecycleChoice {
  private readonly prefix: string;
  private readonly quick = new Lifecycles([]);

  constructor(identity: Identity) {
    this.prefix = simulationName(identity, '');
  }
  choose(pod: ChosenFor, ofNamespace: Annotations, configured: LifecycleIndex): ChosenLifecycle {
    const annotated = this.from(pod.metadata.annotations) ?? this.from(ofNamespace);
    if (annotated === undefined) return { lifecycles: configured.first(pod)?.lifecycles ?? this.quick };
    const { stages, problem } = annotated;
    return { lifecycles: new Lifecycles(stages), ...(problem !== undefined && { problem }) };
  }

  /** Whether annotations of a namespace mean the same for its pods. */
  isSame(one: Annotations, other: Annotations): boolean {
    return equal(this.from(one), this.from(other));
  }

  /** Undefined if no annotation is about the life cycle. */
  private from(annotations: Annotations): Annotated | undefined {
    const stageAnnotations = Object.entries(annotations ?? {}).flatMap(([annotation, value]) => {
      if (!annotation.startsWith(this.prefix)) return [];
      const [name = '', ...container] = annotation.slice(this.prefix.length).split('.');
      const stage = stageOf.get(name);
      return stage === undefined ? [] : [{ annotation, container: container.join('.'), stage: () => stage(value) }];
    });
    if (stageAnnotations.length === 0) return undefined;
    if (stageAnnotations.length > STAGES_LIMIT)
      return { stages: [], problem: `more than ${STAGES_LIMIT} annotations are about the life cycle` };
    // What is said of one container comes after what is said of all.
    stageAnnotations.sort((a, b) => (a.container < b.container ? -1 : a.container > b.container ? 1 : 0));
    const stages: StageSpec[] = [];
    for (const { annotation, container, stage } of stageAnnotations) {
      try {
        const spec = stage();
        if (spec === undefined) continue;
        new Lifecycles([spec]);
        add(stages, spec, container);
      } catch (error) {
        if (error instanceof TimeError || error instanceof ValueError)
          return { stages: [], problem: `annotation ${annotation}: ${error.message}` };
        throw error;
      }
    }
    return { stages };
  }
}

/** One annotation may say when a container exits, another how: together they are one stage. A named container may be an init container. */
function add(stages: StageSpec[], spec: StageSpec, container: string): void {
  const containerChoice = container === '' ? {} : { containers: [container] };
  for (const stage of spec.stage === 'exit' && container !== '' ? (['init', 'exit'] as const) : [spec.stage]) {
    const last = stages.findIndex((one) => one.stage === stage && (one.containers?.[0] ?? '') === container);
    if (last < 0) stages.push({ ...spec, ...containerChoice, stage });
    else stages[last] = { ...stages[last], ...spec, stage };
  }
}
