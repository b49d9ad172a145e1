/** Denials of plug-ins, in the text of stock servers, naming the object even before its name is generated. */
import type { ApiObject } from '@plat-dev/kinds/kind';
import { type ApiError, forbidden } from '@plat-dev/meta/errors';
import type { AdmissionRequest } from './types.ts';

/** `pods "p" is forbidden: …` */
export const refusal = (request: AdmissionRequest, why: string): ApiError => forbidden(request.served.resource, nameOf(request), why);

/** The name in denials of policies: a request that deletes a collection names none of its objects. */
export const deniedName = (request: AdmissionRequest): string => nameOf(request.collection === true ? { ...request, name: '' } : request);

function nameOf({ name, object }: AdmissionRequest): string {
  if (name !== '') return name;
  const meta = (object as Partial<ApiObject> | undefined)?.metadata;
  return meta?.name ?? meta?.generateName ?? 'Unknown';
}
