/**
 * Rules as rows: a request and what a stock server answers.
 *
 *   await answers(server.admin, [
 *     ['POST', path, body, 201, { spec: { minReplicas: 1 } }],
 *     ['PUT', path, body, 422, ['spec.maxReplicas Invalid']],
 *   ]);
 *
 * The answer to a refusal is its reason, or the fields of its causes with theirs; else part of the object.
 */

import { expect } from 'vitest';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import type { Client, Loose } from '../support/client.ts';

export type Row = readonly [method: string, path: string, body: unknown, status: number, answer?: string | readonly string[] | object];

const typeOf: Readonly<Record<string, string>> = {
  PATCH: 'application/merge-patch+json',
  JSONPATCH: 'application/json-patch+json',
  STRATEGIC: 'application/strategic-merge-patch+json',
};

/** Sends the rows one after another; answers what came last. */
export async function answers(client: Client, rows: readonly Row[]): Promise<Loose> {
  let last: Loose;
  for (const [method, path, body, status, wanted] of rows) {
    const type = typeOf[method];
    const answer = await client.send(type === undefined ? method : 'PATCH', path, {
      ...(body !== undefined && { body }),
      ...(type !== undefined && { headers: { 'content-type': type } }),
    });
    last = answer.text.startsWith('{') ? answer.json : answer.text;
    const row = `${method} ${path} ${jsonText(body)}: ${answer.text.slice(0, 1500)}`;
    expect(answer.status, row).toBe(status);
    if (wanted === undefined) continue;
    if (typeof wanted === 'string') expect(last.reason, row).toBe(wanted);
    else if (Array.isArray(wanted)) {
      const causes = (last.details?.causes ?? []).map((cause: Loose) => `${cause.field} ${cause.reason.replace('FieldValue', '')}`);
      expect(causes, row).toEqual(wanted);
    } else expect(last, row).toMatchObject(wanted);
  }
  return last;
}
