/**
 * Adds to the error of a failed test: the history of the object of the failed assertion (who changed what, when), or, without an
 * object, the last writes.
 */
import { subjectOf } from './check.ts';
import { nameOf } from './objects.ts';
import { isRecord } from './partial-match.ts';
import { requestLine, type SeenRequest } from './request-checks.ts';

/** Limit of printed versions of an object, and of requests. */
const SHOWN = 10;
const reading: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** The part of a server that this reads. */
export interface ExplainingServer {
  readonly requests: Iterable<SeenRequest>;
  /** Changes of an object, oldest first. */
  history(object: NamedObject): readonly SeenChange[];
}

/** One write of an object. */
export interface SeenChange {
  readonly type: string;
  readonly time: Date;
  readonly resourceVersion: string;
  /** Undefined: the server itself. */
  readonly user: string | undefined;
  readonly verb: string | undefined;
  readonly subresource: string | undefined;
  readonly fields: readonly string[];
}

interface NamedObject {
  readonly apiVersion?: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly uid?: string };
}

/** The same error, with the history in its message. */
export async function explainFailure(error: unknown, server: ExplainingServer): Promise<unknown> {
  if (!(isRecord(error) && typeof error.message === 'string')) return error;
  try {
    const text = whatHappened(error, server);
    if (text !== '') extend(error as unknown as Error, text);
  } catch {
    // The error of the test matters more than a failure to explain it.
  }
  return error;
}

function whatHappened(error: Record<string, unknown>, server: ExplainingServer): string {
  const object = objectOf(error);
  if (object !== undefined) {
    const changes = server.history(object);
    if (changes.length > 0) return [`History of ${nameOf(object)}:`, ...changes.slice(-SHOWN).map(changeLine)].join('\n');
  }
  const writes = [...server.requests].filter(({ verb }) => !reading.has(verb));
  return writes.length === 0 ? '' : ['The last writes on the server:', ...writes.slice(-SHOWN).map(requestLine)].join('\n');
}

/** `  2026-01-01T00:00:00.000Z changed by alice (patch status), resourceVersion 12: status.replicas`. */
function changeLine({ type, time, resourceVersion, user, verb, subresource, fields }: SeenChange): string {
  const how = [verb, subresource].filter((part) => part !== undefined && part !== '').join(' ');
  const which =
    fields.length === 0 || type === 'created' ? '' : `: ${fields.slice(0, SHOWN).join(', ')}${fields.length > SHOWN ? ', …' : ''}`;
  return `  ${time.toISOString()} ${type} by ${user ?? 'the server'}${how === '' ? '' : ` (${how})`}, resourceVersion ${resourceVersion}${which}`;
}

/** The object that an assertion was about: runners keep it with the message. */
function objectOf({ actual, matcherResult }: Record<string, unknown>): NamedObject | undefined {
  const values = [actual, isRecord(matcherResult) ? matcherResult.actual : undefined];
  return values.map((value) => (typeof value === 'object' && value !== null ? (subjectOf.get(value) ?? value) : value)).find(isObject);
}
const isObject = (value: unknown): value is NamedObject =>
  isRecord(value) && typeof value.kind === 'string' && isRecord(value.metadata) && typeof value.metadata.name === 'string';

/** Some runners print the message, others the stack, which begins with the original message. */
function extend(error: Error, text: string): void {
  const { message, stack } = error;
  error.message = `${message}\n\n${text}\n`;
  if (stack?.includes(message)) error.stack = stack.replace(message, () => error.message);
}
