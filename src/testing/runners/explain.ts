/**
 * What a failed test prints beside its error: the history of the object that the failed assertion was about (who changed what, when),
 * or, where it was about none, the last requests that changed anything.
 */
import { nameOf } from './objects.ts';
import { isRecord } from './partial.ts';
import { requestLine, type SeenRequest } from './seen.ts';

/** Versions of an object, and requests, that are printed. */
const SHOWN = 10;
const reading: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** What a server can say of what happened. */
export interface ExplainingServer {
  close(): Promise<void>;
  readonly requests?: Iterable<SeenRequest>;
}

/** The same error, with what happened on the server in its message. */
export async function explainFailure(error: unknown, server: ExplainingServer): Promise<unknown> {
  if (!(isRecord(error) && typeof error.message === 'string')) return error;
  try {
    const text = whatHappened(error, server);
    if (text !== '') extend(error as unknown as Error, text);
  } catch {
    // The test's own error matters more than one of explaining it.
  }
  return error;
}

function whatHappened(error: Record<string, unknown>, { requests }: ExplainingServer): string {
  const object = objectOf(error);
  const writes = [...(requests ?? [])].filter(({ verb }) => !reading.has(verb));
  if (writes.length === 0) return '';
  const lines = writes.slice(-SHOWN).map(requestLine);
  return [object === undefined ? 'The last writes on the server:' : `History of ${nameOf(object)}:`, ...lines].join('\n');
}

/** The object that an assertion was about: runners keep it beside the message. */
function objectOf({ actual, matcherResult }: Record<string, unknown>): unknown {
  return [actual, isRecord(matcherResult) ? matcherResult.actual : undefined].find(isObject);
}
const isObject = (value: unknown): boolean => isRecord(value) && isRecord(value.metadata) && typeof value.metadata.name === 'string';

/** Some runners print the message, some the stack, which begins with the message of when it was made. */
function extend(error: Error, text: string): void {
  const { message, stack } = error;
  error.message = `${message}\n\n${text}\n`;
  if (stack?.includes(message)) error.stack = stack.replace(message, () => error.message);
}
