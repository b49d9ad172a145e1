/** Runs the plug-ins in order, without awaiting those that answer at once. */
import type { AdmissionChain, AdmissionOperation, AdmissionPlugin, AdmissionRequest } from './types.ts';

type Judge = (request: AdmissionRequest) => void | Promise<void>;

export function admissionChain(plugins: readonly AdmissionPlugin[]): AdmissionChain {
  const operations: AdmissionOperation[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];
  const pick = (phase: 'admit' | 'validate'): Record<AdmissionOperation, Judge[]> => {
    const table = {} as Record<AdmissionOperation, Judge[]>;
    for (const operation of operations)
      table[operation] = plugins
        .filter((plugin) => plugin[phase] !== undefined && plugin.handles(operation))
        .map((plugin) => (plugin[phase] as Judge).bind(plugin));
    return table;
  };
  const mutating = pick('admit');
  const validating = pick('validate');
  return {
    admit: (request) => runFrom(mutating[request.operation], 0, request),
    validate: (request) => runFrom(validating[request.operation], 0, request),
  };
}

function runFrom(judges: readonly Judge[], start: number, request: AdmissionRequest): void | Promise<void> {
  for (let i = start; i < judges.length; i++) {
    const answer = (judges[i] as Judge)(request);
    if (answer instanceof Promise) return answer.then(() => runFrom(judges, i + 1, request));
  }
}
