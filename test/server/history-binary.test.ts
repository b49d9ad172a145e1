/** History in the binary form, read by a foreign decoder with the definitions of docs/history.md, says what JSON says. */
import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRuntimeConfig } from '../../packages/compose/src/config/runtime-config.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

const page = readFileSync(new URL('../../docs/history.md', import.meta.url), 'utf8');
const definitions = /```proto\n(.*?)```/s.exec(page)?.[1] as string;
const { root } = protobuf.parse(definitions, { keepCase: true });

/** What a client reads: kind and apiVersion of the envelope, and fields that were written. Throws for bytes that are not all read. */
function decoded(bytes: Buffer): Loose {
  expect(bytes.subarray(0, 4).toString('latin1')).toBe('k8s\0');
  const { typeMeta, raw } = exactly('Unknown', bytes.subarray(4));
  const { metadata, items = [] } = exactly('ObjectHistory', raw);
  return { ...typeMeta, metadata, items: items.map(plainVersion) };
}
/** A message whose bytes, written again, are as many: no field was skipped. */
function exactly(name: string, bytes: Uint8Array): Loose {
  const type = root.lookupType(name);
  const message = type.decode(bytes);
  expect(type.encode(message).finish()).toHaveLength(bytes.length);
  return type.toObject(message, { longs: Number });
}
/** As JSON has it: texts that are empty are absent, times are texts, and values of JSON are parsed. */
function plainVersion({ time, patch, object, withoutValues, ...texts }: Loose): Loose {
  const json = ({ raw }: Loose): Loose => JSON.parse(Buffer.from(raw).toString());
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== '')),
    ...(time && { time: new Date(time.seconds * 1000 + time.nanos / 1e6).toISOString().replace('Z', '000Z') }),
    ...(patch && { patch: json(patch) }),
    ...(object && { object: json(object) }),
    ...(withoutValues && { withoutValues }),
  };
}

describe.each([
  ['plat', 'application/vnd.plat.protobuf'],
  ['kubernetes', 'application/vnd.kubernetes.protobuf'],
] as const)('identity %s', (identity, mediaType) => {
  let server: TestServer;
  const shop = '/api/v1/namespaces/shop';
  beforeAll(async () => {
    const runtimeConfig = readRuntimeConfig(identity === 'kubernetes' ? ['explain.k8s.io/v1alpha1=true'] : []);
    server = await startTestServer({ direct: true, identity, runtimeConfig });
    const { admin } = server;
    await admin.ok('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
    await admin.ok('POST', `${shop}/configmaps`, { metadata: { name: 'a', annotations: { note: 'é\u2028' } } });
    await admin.patch(`${shop}/configmaps/a?fieldManager=hand`, { data: { text: 'größer → ünïcode', quote: '"\n' } });
    await admin.ok('PUT', `${shop}/configmaps/a`, { metadata: { name: 'a' }, data: { text: '' } });
    await admin.ok('DELETE', `${shop}/configmaps/a`);
    const impersonating = admin.clone({ headers: { 'impersonate-user': 'carol', 'impersonate-group': 'system:masters' } });
    await impersonating.ok('POST', `${shop}/secrets`, { metadata: { name: 's' }, stringData: { word: 'hidden' } });
    await admin.patch(`${shop}/secrets/s`, { stringData: { word: 'more hidden' } });
    const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    await admin.ok('POST', `${shop}/pods`, pod);
    await admin.patch(`${shop}/pods/p/status`, { status: { phase: 'Running', podIP: '192.0.2.7' } });
  });
  afterAll(() => server.close());

  test.each([
    ['an object that was deleted', `${shop}/configmaps/a?history=true`, 4],
    ['with each object as it was', `${shop}/configmaps/a?history=full`, 4],
    ['a page, with the token of the next', `${shop}/configmaps?history=full&limit=2`, 2],
    ['secrets without values, written by someone who acts as another', `${shop}/secrets/s?history=full`, 2],
    ['writes of a subresource', `${shop}/pods/p?history=full`, 2],
    ['nothing', `${shop}/configmaps?history=true&user=nobody`, 0],
  ])('%s', async (_, path, count) => {
    const { items, ...head } = await server.admin.ok('GET', path);
    expect(items).toHaveLength(count);
    const answer = await server.admin.get(path, { accept: mediaType });
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': mediaType } });
    const { items: binaryItems, ...binaryHead } = decoded(answer.bytes);
    expect(binaryItems).toEqual(items);
    const { selfLink, ...metadata } = binaryHead.metadata;
    expect({ ...binaryHead, metadata: { ...metadata, ...(metadata.continue === '' && { continue: undefined }) } }).toEqual(head);
    expect(selfLink).toBe('');
  });
});
