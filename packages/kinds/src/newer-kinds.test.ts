/** Kinds that 1.24 does not have, against the bytes and the facts of a stock server of 1.36. */
import { recorded } from '@plat-dev/lib/testing/recordings.testing';
import { baseGroup, kubernetes } from '@plat-dev/meta/identity';
import { decode, encode } from '@plat-dev/schema/json';
import { parseJson } from '@plat-dev/schema/json/parse';
import { decodeEnvelope, decodeObject, encodeObject } from '@plat-dev/schema/protobuf/envelope';
import { schemaIn } from '@plat-dev/schema/releases';
import type { MessageType } from '@plat-dev/schema/types';
import { describe, expect, test } from 'vitest';
import { newerKinds } from './newer-kinds.ts';

const wire = recorded('wire-1.36');

/** The names of recordings: `resource.k8s.io.v1.DeviceClass`. */
const names = [...wire.keys()].flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -5)] : []));
function schemaOf(name: string): MessageType | undefined {
  const [kind = '', version = '', ...group] = name.split('.').reverse();
  const base = baseGroup(kubernetes, group.reverse().join('.'));
  const schema = newerKinds.find((one) => one.kind === kind && one.group === base)?.versions[version]?.schema;
  return schema && schemaIn('1.36', schema);
}
const newer = names.filter((name) => schemaOf(name) !== undefined);

describe('bytes of a stock server', () => {
  test('every kind is among them', () => {
    const kinds = new Set(newer.map((name) => name.slice(name.lastIndexOf('.') + 1)));
    expect(newerKinds.map(({ kind }) => kind).filter((kind) => !kinds.has(kind))).toEqual([]);
  });

  test.each(newer)('%s', (name) => {
    const schema = schemaOf(name) as MessageType;
    const text = String(wire.get(`${name}.json`));
    const bytes = wire.get(`${name}.pb`) as Buffer;
    const fromJson = decode(schema, parseJson(text, { merge: true }));
    const fromBytes = decodeObject(schema, decodeEnvelope(Buffer.from(bytes)));
    expect(JSON.stringify(fromBytes)).toBe(JSON.stringify(fromJson));
    expect(encode(schema, fromBytes)).toBe(JSON.stringify(JSON.parse(text)));
    expect(encodeObject(schema, fromJson).toString('hex')).toBe(bytes.toString('hex'));
  });
});
