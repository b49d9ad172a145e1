/** Fields that kinds of 1.24 got in later releases, against the bytes of a stock server of 1.36. */
import { recorded } from '@plat-dev/lib/testing/recordings.testing';
import { baseGroup, kubernetes } from '@plat-dev/meta/identity';
import { decode, encode } from '@plat-dev/schema/json';
import { parseJson } from '@plat-dev/schema/json/parse';
import { decodeEnvelope, decodeObject, encodeObject } from '@plat-dev/schema/protobuf/envelope';
import type { MessageType } from '@plat-dev/schema/types';
import { describe, expect, test } from 'vitest';
import { newerKinds } from './newer-kinds.ts';
import { schemaOf } from './schemas.ts';

const wire = recorded('wire-1.36');
const newer = new Set(newerKinds.map(({ kind }) => kind));
/** What they hold besides their own fields is tested with pods, reviews and flows. */
const tested = (name: string): boolean =>
  !/^(authorization|flowcontrol)|Pod(|Template|StatusResult|LogOptions)$|(Set|Deployment|Controller|Job)$/.test(name);

/** `apps.v1.Deployment` → the schema of that kind in 1.36. */
function schemaIn36(name: string): MessageType | undefined {
  const [kind = '', version = '', ...group] = name.split('.').reverse();
  const base = group.reverse().join('.');
  return schemaOf(base === 'core' ? '' : (baseGroup(kubernetes, base) ?? base), version, kind, kubernetes, '1.36');
}
const names = [...wire.keys()]
  .flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -5)] : []))
  .filter((name) => tested(name) && !newer.has(name.split('.').at(-1) ?? '') && schemaIn36(name) !== undefined);

describe('bytes of a stock server', () => {
  test.each(names)('%s', (name) => {
    const schema = schemaIn36(name) as MessageType;
    const text = String(wire.get(`${name}.json`));
    const bytes = wire.get(`${name}.pb`) as Buffer;
    const fromJson = decode(schema, parseJson(text, { merge: true }));
    expect(encode(schema, fromJson)).toBe(JSON.stringify(JSON.parse(text)));
    expect(encodeObject(schema, fromJson).toString('hex')).toBe(bytes.toString('hex'));
    expect(JSON.stringify(decodeObject(schema, decodeEnvelope(Buffer.from(bytes))))).toBe(JSON.stringify(fromJson));
  });
});
