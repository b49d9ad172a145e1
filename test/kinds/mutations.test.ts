/**
 * Bodies with something wrong in them, sent to a real server without being kept: whatever they are, they are taken or
 * refused with a reason, never answered with an error of the server.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { mutated } from '../../src/kinds/validation/mutations.testing.ts';
import fc from '../../src/lib/fast-check.testing.ts';
import { type MessageType, resolve, type Type } from '../../src/schema/types.ts';
import { pick, type Random, randomOf, randomValue } from '../support/arbitrary.ts';
import { type Example, readExamples, servedVersions } from '../support/examples.ts';
import { type Answer, type Loose, startTestServer, type TestServer } from '../support/server.ts';

const examples = readExamples();
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', allowPrivileged: true });
  // Behind an API service nothing answers here.
  for (const { path, object, served } of examples) if (served.kind.kind !== 'APIService') await server.admin.ok('POST', path, object);
});
afterAll(() => server.close());

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
const complaint = (answer: Answer): string =>
  answer.status >= 500 && !recorded.test(answer.text) ? `${answer.status} ${answer.text}` : '';

async function holds(bodies: fc.Arbitrary<Loose>, numRuns: number, send: (body: Loose) => Promise<Answer>): Promise<void> {
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      expect(complaint(await send(body))).toBe('');
      expect(server.errors).toEqual([]);
    }),
    { numRuns },
  );
}

// Rows of Tables and the binary form are made of whatever was accepted.
const asTable = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const asBytes = { accept: 'application/vnd.kubernetes.protobuf' };

const titled = examples.map((example): [string, Example] => [`${example.served.apiVersion} ${example.served.kind.kind}`, example]);

test.each(titled)('creating a wrong %s never fails the server', async (_name, { served, path, object }) => {
  const fresh = { ...object, metadata: { ...object.metadata, name: 'another' } };
  const bodies = fc.oneof(mutated(fresh), replaced(served.schema, fresh));
  await holds(bodies, 60, (body) => server.admin.post(`${path}?dryRun=All`, body, asTable));
});

test.each(titled.filter(([, { served }]) => served.kind.verbs.includes('update') && served.kind.kind !== 'APIService'))(
  'changing a %s in any version, or its status, never fails the server',
  async (_name, { served, object }) => {
    for (const version of servedVersions(served.kind)) {
      const root = version.group === '' ? `/api/${version.version}` : `/apis/${version.apiVersion}`;
      const namespace = served.kind.namespaced ? `/namespaces/${object.metadata.namespace}` : '';
      const path = `${root}${namespace}/${served.kind.plural}/${object.metadata.name}`;
      const stored = await server.admin.ok('GET', path);
      const bodies = fc.oneof(mutated(stored), replaced(version.schema, stored));
      await holds(bodies, 30, (body) => server.admin.put(`${path}?dryRun=All`, body, asBytes));
      await holds(bodies, 10, (body) => server.admin.patch(`${path}?dryRun=All&fieldManager=test`, body));
      const applied = bodies.map((body) => ({
        ...body,
        metadata: { ...body.metadata, managedFields: undefined, resourceVersion: undefined },
      }));
      await holds(applied, 10, (body) => server.admin.patch(`${path}?dryRun=All&fieldManager=other&force=true`, body, 'apply-patch'));
      for (const [name, sub] of Object.entries(served.kind.subresources))
        if (sub.type !== 'action') await holds(bodies, 10, (body) => server.admin.put(`${path}/${name}?dryRun=All`, body));
    }
  },
);
