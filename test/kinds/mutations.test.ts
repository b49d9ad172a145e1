/**
 * Bodies with something wrong in them, sent to a whole server in this process without being kept: whatever they are, they are taken or
 * refused with a reason, never answered with an error of the server.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { mutated } from '../../packages/kinds/src/validation/mutations.testing.ts';
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { type Log, silentLog } from '../../packages/lib/src/log.ts';
import { expectEqual } from '../../packages/lib/src/testing/expect-equal.testing.ts';
import fc, { rounds } from '../../packages/lib/src/testing/fast-check.testing.ts';
import { type MessageType, resolve, type Type } from '../../packages/schema/src/types.ts';
import { startTestServer, type TestAnswer, type TestServer } from '../../packages/testing/src/index.ts';
import { pick, type Random, randomOf, randomValue } from '../support/arbitrary.ts';
import type { Loose } from '../support/client.ts';
import { type Example, readExamples, servedVersions } from '../support/examples.ts';

const examples = readExamples();
/** What the server logged as errors. */
const errors: string[] = [];
const log: Log = { ...silentLog, error: (message, fields) => void errors.push(`${message} ${jsonText(fields)}`), child: () => log };
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', controllers: true, server: { allowPrivileged: true }, log });
  // Behind an API service nothing answers here.
  for (const { path, object, served } of examples)
    if (served.kind.kind !== 'APIService') expect(await send('POST', path, object)).toMatchObject({ status: 201 });
});
afterAll(() => server.close());

/** Sends a body, as JSON unless a header says otherwise; without a connection, which would cost more than all that is tried. */
const send = (method: string, path: string, body?: Loose, headers?: Record<string, string>): Promise<TestAnswer> =>
  server.request(method, path, { body, headers });
const mergePatch = { 'content-type': 'application/merge-patch+json' };
const applyPatch = { 'content-type': 'application/apply-patch+yaml' };

/** The body with a part of it, or a field that it did not have, replaced by a random value of the right type. */
function replaced(schema: MessageType, body: Loose): fc.Arbitrary<Loose> {
  return fc.integer({ min: 0, max: 2 ** 31 - 1 }).map((seed) => {
    const random = randomOf(seed);
    const copy = structuredClone(body);
    for (let i = 0; i < 3; i++) replaceOne(schema, copy, random);
    return copy;
  });
}
function replaceOne(schema: MessageType, object: Loose, random: Random): void {
  const fields = schema.ordered.filter(({ name }) => name !== 'kind' && name !== 'apiVersion');
  const present = fields.filter(({ name }) => object[name] !== undefined);
  const field = pick(random, present.length > 0 && random() < 0.7 ? present : fields);
  if (field === undefined) return;
  const [inner, type] = insideOf(field.type, object[field.name], random);
  if (inner !== undefined && type.node === 'message' && random() < 0.8) replaceOne(type, inner, random);
  else object[field.name] = randomValue(field.type, random, 3, field);
}
/** The object that a field holds, or one of those in its list. */
function insideOf(type: Type, value: Loose, random: Random): [Loose, ReturnType<typeof resolve>] {
  const resolved = resolve(type);
  if (resolved.node === 'list' && Array.isArray(value) && value.length > 0) return [pick(random, value), resolve(resolved.item)];
  return [typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined, resolved];
}

/**
 * Faults of the client that clients know under this code all the same: a resourceVersion where none or a number belongs,
 * a bad binding, an applied body that does not fit its type.
 */
const recorded =
  /resourceVersion should not be set on objects to be created|strconv\.ParseUint: parsing|target\.(name|kind): |failed to (create typed patch object|convert new object)/;
const problem = (answer: TestAnswer): string =>
  answer.status >= 500 && !recorded.test(answer.text) ? `${answer.status} ${answer.text}` : '';

async function holds(bodies: fc.Arbitrary<Loose>, numRuns: number, sent: (body: Loose) => Promise<TestAnswer>): Promise<void> {
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      expectEqual(problem(await sent(body)), '');
      expectEqual(errors, []);
    }),
    { numRuns: rounds(numRuns) },
  );
}

// Rows of Tables and the binary form are made of whatever was accepted.
const asTable = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const asBytes = { accept: 'application/vnd.kubernetes.protobuf' };

const titled = examples.map((example): [string, Example] => [`${example.served.apiVersion} ${example.served.kind.kind}`, example]);

test.each(titled)('creating a wrong %s never fails the server', async (_name, { served, path, object }) => {
  const fresh = { ...object, metadata: { ...object.metadata, name: 'another' } };
  const bodies = fc.oneof(mutated(fresh), replaced(served.schema, fresh));
  await holds(bodies, 60, (body) => send('POST', `${path}?dryRun=All`, body, asTable));
});

test.each(titled.filter(([, { served }]) => served.kind.verbs.includes('update') && served.kind.kind !== 'APIService'))(
  'changing a %s in any version, or its status, never fails the server',
  async (_name, { served, object }) => {
    for (const version of servedVersions(served.kind)) {
      const root = version.group === '' ? `/api/${version.version}` : `/apis/${version.apiVersion}`;
      const namespace = served.kind.namespaced ? `/namespaces/${object.metadata.namespace}` : '';
      const path = `${root}${namespace}/${served.kind.plural}/${object.metadata.name}`;
      const { status, body } = await send('GET', path);
      expect(status, path).toBe(200);
      const stored = body as Loose;
      const bodies = fc.oneof(mutated(stored), replaced(version.schema, stored));
      await holds(bodies, 30, (body) => send('PUT', `${path}?dryRun=All`, body, asBytes));
      await holds(bodies, 10, (body) => send('PATCH', `${path}?dryRun=All&fieldManager=test`, body, mergePatch));
      const applied = bodies.map((body) => ({
        ...body,
        metadata: { ...body.metadata, managedFields: undefined, resourceVersion: undefined },
      }));
      await holds(applied, 10, (body) => send('PATCH', `${path}?dryRun=All&fieldManager=other&force=true`, body, applyPatch));
      for (const [name, sub] of Object.entries(served.kind.subresources))
        if (sub.type !== 'action') await holds(bodies, 10, (body) => send('PUT', `${path}/${name}?dryRun=All`, body));
    }
  },
);
