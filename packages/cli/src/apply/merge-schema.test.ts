import { notFound } from '@plat-dev/meta/errors';
import { expect, test } from 'vitest';
import type { Work } from '../work.ts';
import { mergeSchemaOf } from './merge-schema.ts';

const deployments = { group: 'apps', version: 'v1', name: 'deployments', kind: 'Deployment', namespaced: true, verbs: ['patch'] } as never;
const known = { metadata: { name: 'a' }, spec: { replicas: 1 } };
const unknown = { metadata: { name: 'a' }, spec: { fieldOfTomorrow: [] } };

/** The paths that a server without documents is asked for. */
async function asked(object: object, askServer: boolean): Promise<string[]> {
  const paths: string[] = [];
  const answer = async ({ path }: { path: string }): Promise<never> => {
    paths.push(path);
    throw notFound({ group: '', resource: 'documents' }, path);
  };
  const work = { session: { transport: { json: answer, text: answer, send: answer } } } as unknown as Work;
  // What this program knows is used where the server has nothing to say.
  expect(await mergeSchemaOf(work, deployments, object, askServer)).toMatchObject({ node: 'message' });
  return paths;
}

test('the server is asked how to merge only what this program does not know, and never with --openapi-patch=false', async () => {
  expect(await asked(known, true)).toEqual([]);
  expect(await asked(unknown, true)).not.toEqual([]);
  expect(await asked(unknown, false)).toEqual([]);
});
