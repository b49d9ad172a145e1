/**
 * Which life cycle a pod has. Annotations of the pod come first, then those of its namespace, then the PodLifecycle objects that
 * select it in the order of their names, then the quick one.
 *
 *   simulation.plat.dev/slow-pull: 30s        simulation.plat.dev/complete-after: 5s     simulation.plat.dev/exit-code: "3"
 *   simulation.plat.dev/never-ready: "true"   simulation.plat.dev/crash-loop: "true"     simulation.plat.dev/oom: "true"
 */
import { type Identity, simulationName } from '../../../meta/identity.ts';
import type { LabelSelector } from '../../../meta/labels.ts';
import { TimeError } from '../../../meta/time.ts';
import { type Lifecycle, lifecycleOf, quickLifecycle, type StageSpec } from './lifecycle.ts';

/** A PodLifecycle object, ready for use. */
export interface ConfiguredLifecycle {
  readonly name: string;
  readonly selector: LabelSelector;
  /** Empty: all. */
  readonly namespaces: readonly string[];
  /** Names of images, `*` for any text. Empty: all. A pod has the life cycle if one of its containers has such an image. */
  readonly images: readonly string[];
  readonly lifecycle: Lifecycle;
}

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

/** What of a pod decides. */
export interface ChosenFor {
  readonly metadata: {
    readonly namespace?: string;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
  };
  readonly spec?: {
    readonly containers?: readonly { readonly image?: string }[] | null;
    readonly initContainers?: readonly { readonly image?: string }[] | null;
  } | null;
}
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
  choose(
    { metadata: { namespace, labels, annotations }, spec }: ChosenFor,
    ofNamespace: Annotations,
    configured: readonly ConfiguredLifecycle[],
  ): Chosen {
    const own = this.from(annotations) ?? this.from(ofNamespace);
    if (own !== undefined) return own;
    for (const one of configured) {
      if (one.namespaces.length > 0 && !one.namespaces.includes(namespace ?? '')) continue;
      if (one.images.length > 0 && !hasImage(spec, one.images)) continue;
      if (one.selector.matches(labels)) return { lifecycle: one.lifecycle };
    }
    return { lifecycle: quickLifecycle };
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
        const stage = stageOf[short]?.(value);
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
      if (!Number.isInteger(number) || number < 0 || number > 255)
        return { lifecycle: quickLifecycle, problem: `${this.prefix}${exitCode}: ${JSON.stringify(code)} is no exit code` };
      const stage: StageSpec = { stage: 'exit', exitCode: number, ...(delay !== undefined && { delay }) };
      const problem = problemOf(`${this.prefix}${completeAfter}`, stage);
      if (problem !== undefined) return { lifecycle: quickLifecycle, problem };
      stages = [...(stages ?? []), stage];
    }
    return stages === undefined ? undefined : { lifecycle: lifecycleOf(stages) };
  }
}

function hasImage(spec: ChosenFor['spec'], patterns: readonly string[]): boolean {
  const images = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])].map(({ image }) => image ?? '');
  return patterns.some((pattern) => images.some((image) => isLike(image, pattern)));
}
/** `example.com/*:broken`: parts between stars are found one after another. */
function isLike(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
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
