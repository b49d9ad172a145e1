/** Formatting of violations. */
import type { AnyContainer } from '../pods.ts';

/** A violation: the general problem, and its details. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

export const plural = (single: string, several: string, count: number): string => (count === 1 ? single : several);
export const quoted = (texts: Iterable<string>): string => [...texts].map((text) => JSON.stringify(text)).join(', ');
export const sortedQuoted = (texts: Iterable<string>): string => quoted([...new Set(texts)].sort());

/** `container "a"`, `containers "a", "b"` */
export function containersText(containers: readonly AnyContainer[]): string {
  return `${plural('container', 'containers', containers.length)} ${quoted(containers.map(({ name }) => name))}`;
}

/** `pod and containers "a", "b"`: who set a forbidden value. */
export function setters(pod: boolean, containers: readonly AnyContainer[]): string {
  return [...(pod ? ['pod'] : []), ...(containers.length > 0 ? [containersText(containers)] : [])].join(' and ');
}
