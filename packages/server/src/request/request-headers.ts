/**
 * What steps need of the headers of every request. A client sends the same headers again and again over its connection: its
 * requests share them (`http1/connection.ts`), and with them these notes.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { wantsImpersonation } from '../auth/impersonation.ts';
import { isReader } from './negotiate.ts';

/** Ids that clients may choose themselves, within reason. */
const goodId = /^[\x21-\x7e]{1,64}$/;

export class HeadNotes {
  readonly accept: string | undefined;
  /** The id for the audit trail, where the client gives a valid one. */
  readonly auditId: string | undefined;
  readonly impersonates: boolean;
  /** Its answers are read by people: they are indented unless it opts out. */
  readonly isReader: boolean;

  constructor(headers: Readonly<IncomingHttpHeaders>) {
    const auditId = first(headers['audit-id']);
    this.accept = first(headers.accept);
    this.auditId = auditId !== undefined && goodId.test(auditId) ? auditId : undefined;
    this.impersonates = wantsImpersonation(headers);
    this.isReader = isReader(headers['user-agent']);
  }
}
const first = (value: string | readonly string[] | undefined): string | undefined => (typeof value === 'object' ? value[0] : value);
