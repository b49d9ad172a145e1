/** Termination messages of containers, with the limits of node agents. */
import type { Work } from '@plat-dev/lib/slices';
import type { WorkloadPod } from '../../shared/pods.ts';
import type { LogLine } from '../container-log.ts';

/** Of a file, from its end. */
export const MESSAGE_BYTES = 4096;
/** Of a log, from its end, where that stands in for the file. */
const LOG_BYTES = 2048;
const LOG_LINES = 80;
/** Of all containers of a pod; each may have its share of it. */
const POD_BYTES = 12 * 1024;

export const DEFAULT_PATH = '/dev/termination-log';

/** A message as its container has it in the status of the pod. */
export function limitedMessage({ spec }: WorkloadPod, text: string): string {
  const share = Math.floor(POD_BYTES / Math.max((spec?.containers?.length ?? 0) + (spec?.initContainers?.length ?? 0), 1));
  return lastBytes(text, MESSAGE_BYTES).subarray(0, share).toString();
}

/** The end of a log as far as it has come at a time. */
export function* endOfLog(lines: Iterable<LogLine | undefined>, end: number): Work<string> {
  const last: string[] = [];
  for (const line of lines) {
    yield;
    if (line === undefined) continue;
    if (line.at > end) break;
    last.push(line.text);
    if (last.length > LOG_LINES) last.shift();
  }
  return lastBytes(last.join(''), LOG_BYTES).toString();
}

const lastBytes = (text: string, most: number): Buffer => {
  const bytes = Buffer.from(text);
  return bytes.subarray(Math.max(bytes.length - most, 0));
};
