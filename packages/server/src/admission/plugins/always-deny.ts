/** AlwaysDeny: denies every request. For tests. */
import type { MakePlugin } from '../plugin.ts';
import { refusal } from '../refusal.ts';
import type { AdmissionRequest } from '../types.ts';

export const alwaysDeny: MakePlugin = () => {
  const deny = (request: AdmissionRequest): never => {
    throw refusal(request, 'admission control is denying all modifications');
  };
  return { name: 'AlwaysDeny', handles: () => true, admit: deny, validate: deny };
};
