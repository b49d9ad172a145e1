/**
 * What simulated containers use: what annotations of the pod say, or a part of what the container requests, which wanders slowly and is
 * the same for the same pod at the same time.
 *
 *   simulation.plat.dev/usage.cpu: 250m           of every container of the pod
 *   simulation.plat.dev/usage.memory.NAME: 1Gi    of one
 */
import { parseQuantity, QuantityError } from '@plat-dev/meta/quantity';
import { type Annotated, annotationOf } from '../annotations.ts';
import { fraction } from '../lifecycle/lifecycle.ts';
import type { Container } from '../lifecycle/process.ts';

/** Nanoseconds of processor time in a second, and bytes. */
export interface Usage {
  readonly cpu: number;
  readonly memory: number;
}

/** Usage changes this often. */
export const WINDOW_MS = 15_000;
/** The lowest and highest part of a request that is used. */
const LOW = 0.4;
const HIGH = 0.9;
/** Of containers that request nothing: thousandths of a processor, and mebibytes. */
const SMALL_CPU = { low: 1e6, high: 10e6 };
const SMALL_MEMORY = { low: 8 * 2 ** 20, high: 48 * 2 ** 20 };
/** What a node uses without its pods. */
const OF_NODE: Usage = { cpu: 100e6, memory: 512 * 2 ** 20 };

export function containerUsage(annotated: Annotated, container: Container, now: number): Usage {
  const window = Math.floor(now / WINDOW_MS);
  const randomUsage = (resource: 'cpu' | 'memory', small: { low: number; high: number }, scale: number): number => {
    const annotatedUsage = numberOf(annotationOf(annotated, `usage.${resource}`, container.name));
    if (annotatedUsage !== undefined) return annotatedUsage * scale;
    const share = fraction(`${annotated.pod.metadata.uid}/${container.name}/${resource}/${window}`);
    const request = numberOf(container.resources?.requests?.[resource]);
    if (request === undefined || request === 0) return Math.floor(small.low + share * (small.high - small.low));
    return Math.floor(request * scale * (LOW + share * (HIGH - LOW)));
  };
  return { cpu: randomUsage('cpu', SMALL_CPU, 1e9), memory: randomUsage('memory', SMALL_MEMORY, 1) };
}

/** Undefined for what is no quantity. */
function numberOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  try {
    return parseQuantity(text).toNumber();
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    return undefined;
  }
}

export const sumOf = (usages: Iterable<Usage>, from: Usage = { cpu: 0, memory: 0 }): Usage => {
  let { cpu, memory } = from;
  for (const usage of usages) {
    cpu += usage.cpu;
    memory += usage.memory;
  }
  return { cpu, memory };
};
export const nodeUsage = (pods: Iterable<Usage>): Usage => sumOf(pods, OF_NODE);

/** As a metrics server writes it: `12345678n` and `1234Ki`. */
export const usageTexts = ({ cpu, memory }: Usage): { cpu: string; memory: string } => ({
  cpu: `${Math.round(cpu)}n`,
  memory: `${Math.round(memory / 1024)}Ki`,
});
