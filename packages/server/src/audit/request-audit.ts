/** What the steps of a request note for the audit trail. */
import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Status } from '@plat-dev/meta/errors';
import type { JsonValue, MessageType } from '@plat-dev/schema/types';

export interface RequestAudit {
  /** Whether annotations that repeat parts of the object may be kept. */
  readonly showsObjects: boolean;
  /** Response bodies are recorded at level RequestResponse only. */
  readonly wantsResponse: boolean;
  /** The decoded object of a request. */
  requestObject(schema: MessageType, object: ApiObject): void;
  /** The body of a patch or of delete options, as received. */
  requestBody(value: () => JsonValue): void;
  responseBody(type: string, bytes: Buffer): void;
  responseStatus(status: Status): void;
  /** Some object is too large to be recorded. */
  truncated(): void;
  decided(decision: 'allow' | 'forbid', reason: string): void;
  /** The head of a long-running response was sent (ResponseStarted). */
  started(): void;
  /** The request failed by an error of this server (Panic). */
  fault(): void;
}
