/**
 * Which life cycle a pod has. Annotations of the pod come first, then those of its namespace, then the PodLifecycle objects that
 * select it in the order of their names, then the quick one.
 *
 *   simulation.plat.dev/slow-pull: 30s        simulation.plat.dev/complete-after: 5s     simulation.plat.dev/exit-code: "3"
 *   simulation.plat.dev/never-ready: "true"   simulation.plat.dev/crash-loop: "true"     simulation.plat.dev/oom: "true"
 */

import { equal } from '../../../lib/equal.ts';
import { own } from '../../../lib/own.ts';
import { type Identity, simulationName } from '../../../meta/identity.ts';
import { TimeError } from '../../../meta/time.ts';
import { type Lifecycle, lifecycleOf, quickLifecycle, type StageSpec } from './lifecycle.ts';
import type { ChosenFor, LifecycleIndex } from './lifecycle-index.ts';

/** By the last part of the annotation's name: the stage that its value makes. */
const stageOf: Readonly<Record<string, (value: string) => StageSpec | undefined>> = {
  'slow-pull': (delay) => ({ stage: 'pull', delay }),
  'pull-error': (value) => (isTrue(value) ? { stage: 'pull', fails: true } : undefined),
  'ready-after': (delay) => ({ stage: 'ready', delay }),
  'never-ready': (value) => (isTrue(value) ? { stage: 'ready', never: true } : undefined),
  'use-probes': (value) => ({ stage: 'ready', probes: isTrue(value) }),
  'unhealthy-after': (delay) => ({ stage: 'live', delay }),
  'stop-after': (delay) => ({ stage: 'terminate', delay }),
  fail: (value) => (isTrue(value) ? { stage: 'exit', exitCode: 1 } : undefined),
  'crash-loop': (value) => (isTrue(value) ? { stage: 'exit', exitCode: 1 } : undefined),
  oom: (value) => (isTrue(value) ? { stage: 'exit', exitCode: 137, reason: 'OOMKilled' } : undefined),
};
const isTrue = (value: string): boolean => value !== 'false';

/** Annotations that change the life cycle, besides those of single stages. */
const completeAfter = 'complete-after';
const exitCode = 'exit-code';

type Annotations = Readonly<Record<string, string>> | undefined;

export interface Chosen {
  readonly lifecycle: Lifecycle;
  /** What is wrong with the annotations; those are not used. */
  readonly problem?: string;
}

export class LifecycleChoice {
  private readonly prefix: string;

  constructor(identity: Identity) {
    this.prefix = simulationName(identity, '');
  }
  choose(pod: ChosenFor, ofNamespace: Annotations, configured: LifecycleIndex): Chosen {
    const own = this.from(pod.metadata.annotations) ?? this.from(ofNamespace);
    return own ?? { lifecycle: configured.first(pod)?.lifecycle ?? quickLifecycle };
  }

  /** Whether annotations of a namespace mean the same for its pods. */
  isSame(one: Annotations, other: Annotations): boolean {
    return equal(this.from(one), this.from(other));
  }

  /** Undefined if no annotation is about the life cycle. */
  private from(annotations: Annotations): Chosen | undefined {
    if (annotations === undefined) return undefined;
    let stages: StageSpec[] | undefined;
    const values: Record<string, string> = {};
    for (const [name, value] of Object.entries(annotations)) {
      if (!name.startsWith(this.prefix)) continue;
      const short = name.slice(this.prefix.length);
      if (short === completeAfter || short === exitCode) values[short] = value;
      else if (Object.hasOwn(stageOf, short)) {
        const stage = own(stageOf, short)?.(value);
        stages ??= [];
        if (stage === undefined) continue;
        const problem = problemOf(name, stage);
        if (problem !== undefined) return { lifecycle: quickLifecycle, problem };
        stages.push(stage);
      }
    }
    const { [completeAfter]: delay, [exitCode]: code } = values;
    if (delay !== undefined || code !== undefined) {
      const number = code === undefined ? 0 : Number(code);
      if ((code !== undefined && !/^\d{1,3}$/.test(code)) || number > 255)
        return { lifecycle: quickLifecycle, problem: `${this.prefix}${exitCode}: ${JSON.stringify(code)} is no exit code` };
      const stage: StageSpec = { stage: 'exit', exitCode: number, ...(delay !== undefined && { delay }) };
      const problem = problemOf(`${this.prefix}${completeAfter}`, stage);
      if (problem !== undefined) return { lifecycle: quickLifecycle, problem };
      stages = [...(stages ?? []), stage];
    }
    return stages === undefined ? undefined : { lifecycle: lifecycleOf(stages) };
  }
}

/** What is wrong with the delay that an annotation names; undefined if nothing is. */
function problemOf(annotation: string, stage: StageSpec): string | undefined {
  try {
    lifecycleOf([stage]);
    return undefined;
  } catch (error) {
    if (error instanceof TimeError) return `annotation ${annotation}: ${error.message}`;
    throw error;
  }
}
