/**
 * The binary form against foreign bytes: 96 objects, each as JSON and as the bytes that a stock server made of it. The
 * pairs are in test/recordings.
 */

import { schemaOf } from '@plat-dev/kinds/schemas';
import fc, { rounds } from '@plat-dev/lib/testing/fast-check.testing';
import { recorded } from '@plat-dev/lib/testing/recordings.testing';
import { baseGroup, kubernetes } from '@plat-dev/meta/identity';
import { describe, expect, test } from 'vitest';
import { DecodeError } from '../errors.ts';
import { decode, encode } from '../json/index.ts';
import { parseJson } from '../json/parse.ts';
import type { MessageType } from '../types.ts';
import { decodeEnvelope, decodeObject, encodeObject } from './envelope.ts';

const wire = recorded('wire');
const names = [...wire.keys()].flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -5)] : []));
/** A copy, which a test may change. */
const bytesOf = (name: string): Buffer => Buffer.from(wire.get(`${name}.pb`) as Buffer);

/** `apps.v1.Deployment`, `discovery.k8s.io.v1.EndpointSlice` */
function schemaFor(name: string): MessageType {
  const parts = name.split('.');
  const kind = parts.pop() as string;
  const version = parts.pop() as string;
  const group = parts.join('.');
  const schema = schemaOf(group === 'core' ? '' : (baseGroup(kubernetes, group) ?? group), version, kind);
  if (schema === undefined) throw new Error(`no schema for ${name}`);
  return schema;
}

describe('bytes of a stock server', () => {
  test('all pairs are here', () => expect(names).toHaveLength(96));

  test.each(names)('%s', (name) => {
    const schema = schemaFor(name);
    const text = String(wire.get(`${name}.json`));
    const bytes = bytesOf(name);
    const fromJson = decode(schema, parseJson(text, { merge: true }));
    const fromBytes = decodeObject(schema, decodeEnvelope(bytes));

    // Both forms are read as the same object, with keys in the same order, and written back as they came.
    expect(JSON.stringify(fromBytes)).toBe(JSON.stringify(fromJson));
    expect(encode(schema, fromBytes)).toBe(JSON.stringify(JSON.parse(text)));
    expect(encodeObject(schema, fromJson).toString('hex')).toBe(bytes.toString('hex'));
  });

  test('with bits flipped or the end cut off they are read or refused, nothing else', () => {
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.array(fc.tuple(fc.nat(), fc.nat(7)), { maxLength: 3 }), fc.nat(), (name, flips, cut) => {
        const bytes = bytesOf(name);
        for (const [at, bit] of flips) bytes.writeUInt8(bytes.readUInt8(at % bytes.length) ^ (1 << bit), at % bytes.length);
        const damaged = cut % 2 === 0 ? bytes : bytes.subarray(0, cut % bytes.length);
        try {
          const schema = schemaFor(name);
          encode(schema, decodeObject(schema, decodeEnvelope(damaged)));
        } catch (error) {
          expect(error).toBeInstanceOf(DecodeError);
        }
      }),
      { numRuns: rounds(2000) },
    );
  });
});
