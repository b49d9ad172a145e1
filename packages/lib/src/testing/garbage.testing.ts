/** Frees what nothing refers to, for tests that measure memory. By the inspector, because a flag of the engine would be for the whole process. */
import { Session } from 'node:inspector';

export function collectGarbage(): void {
  const session = new Session();
  session.connect();
  session.post('HeapProfiler.collectGarbage');
  session.disconnect();
}
