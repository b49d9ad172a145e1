/** Actions that create an object without storing it pass admission as every create does. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import type { ObjectKind } from '../admission/types.ts';
import { admissionRequest } from '../registry/commit.ts';
import type { RegistryDeps } from '../registry/context.ts';
import type { Action, ActionRequest } from '../services.ts';

export interface ActionAdmissionOptions {
  /** The kind of the body if that is not the kind of the resource itself. */
  readonly objectKind?: ObjectKind;
  /** Completes the body between mutation and validation. */
  readonly complete?: (request: ActionRequest, now: number) => Promise<void>;
}

export function withAdmission(deps: RegistryDeps, action: Action, { objectKind, complete }: ActionAdmissionOptions = {}): Action {
  return async (actionRequest) => {
    const request = {
      ...admissionRequest(actionRequest.write, 'CREATE', actionRequest.body, undefined),
      ...(objectKind !== undefined && { objectKind }),
    };
    await deps.admission.admit(request);
    const ready = { ...actionRequest, body: request.object as ApiObject | undefined };
    await complete?.(ready, deps.env.now());
    await deps.admission.validate(request);
    return action(ready);
  };
}
