/** Audit backends. */
import type { AuditEvent } from './event.ts';

/** An event and its JSON, which is made once for all sinks. */
export interface WrittenEvent {
  readonly event: AuditEvent;
  readonly json: string;
}

export interface AuditSink {
  readonly name: string;
  /**
   * Takes an event. If the sink makes requests wait (it is blocking, or cannot keep up), the result is a promise of
   * whether the event was stored; otherwise it was taken, or dropped and counted.
   */
  put(writtenEvent: WrittenEvent): undefined | Promise<boolean>;
  /** Stores the remaining events, within a time limit. */
  close(): Promise<void>;
}
