/** Requests that --raw sends as they are. */
import { errorOf, readAll } from '@plat-dev/client/transport';
import type { Work } from '../work.ts';

const maxBytes = 1 << 30;

/** The body of the answer. Throws ApiError. */
export async function sendRaw(work: Work, method: 'POST' | 'PUT' | 'DELETE', path: string, body?: string): Promise<string> {
  await work.session.announce();
  const answer = await work.session.transport.open({
    method,
    path,
    headers: { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body }),
    signal: work.signal,
    ...work.session.timeout,
  });
  work.warnings.print(answer.headers.warning);
  if (answer.status >= 300) throw await errorOf(answer);
  return (await readAll(answer.body, maxBytes)).toString();
}
