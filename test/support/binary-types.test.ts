/** The codec of the test client against the bytes of a stock server: what it proves about ours must be true of it, too. */
import { expect, test } from 'vitest';
import { recorded } from '../../packages/lib/src/testing/recordings.testing.ts';
import { kubernetes } from '../../packages/meta/src/identity.ts';
import { BinaryTypes } from './binary-types.ts';
import { openEnvelope } from './wire.ts';

const wire = recorded('wire');
const names = [...wire.keys()].flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -5)] : []));
const types = new BinaryTypes(kubernetes);

test.each(names)('the codec of the test client: %s', (name) => {
  const bytes = wire.get(`${name}.pb`) as Buffer;
  const object = JSON.parse(String(wire.get(`${name}.json`)));
  const { kind, apiVersion, raw } = openEnvelope(bytes);
  // An event of a watch does not say what it is.
  const type = name === 'core.v1.WatchEvent' ? 'meta.v1.WatchEvent' : types.typeOf(apiVersion, kind);
  const shown = types.plain(type, object);
  expect(types.plain(type, types.decode(type, raw))).toEqual(shown);
  expect(types.plain(type, types.decode(type, types.encode(type, object)))).toEqual(shown);
});
