/** What the expressions of policies and of match conditions see of a request. */
import type { AskAccess } from '@plat-dev/cel/values';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';

export type { AccessCheck, AccessDecision, AskAccess } from '@plat-dev/cel/values';

export interface AdmissionValues {
  readonly object: JsonValue;
  readonly oldObject: JsonValue;
  readonly request: JsonObject;
  readonly params?: JsonValue | undefined;
  readonly namespaceObject?: object | undefined;
  /** Gives decisions; never rejects. */
  readonly ask: AskAccess;
  /** The resource of the request, as a check of access names it. */
  readonly requestResource: {
    readonly group: string;
    readonly resource: string;
    readonly subresource: string;
    readonly namespace: string;
    readonly name: string;
  };
}
