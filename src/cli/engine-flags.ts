/**
 * When the engine optimizes code. By itself it waits until a function has run for long, which suits programs that end soon: a
 * server needs thousands of requests until most of what they run is optimized. With these flags a function is watched and
 * optimized after a fifth of that, which pays after some thousand requests (docs/decisions/012-compiled-bundle.md).
 *
 * They are set when the server is ready: what a start runs once is not worth it, and compiled code is accepted only under the
 * flags that it was made with.
 */
import { setFlagsFromString } from 'node:v8';

const FLAGS = ['--interrupt-budget=12000', '--interrupt-budget-factor-for-feedback-allocation=2'];

/** Later releases have another compiler in between, with a measure of its own. */
const MEASURED_WITH = '20.';

/** What a process that serves sets; nothing in a release in which the effect is not known. */
export const flagsOf = (nodeVersion: string): readonly string[] => (nodeVersion.startsWith(MEASURED_WITH) ? FLAGS : []);

export function optimizeSooner(): void {
  for (const flag of flagsOf(process.versions.node)) setFlagsFromString(flag);
}
