/** The codec of the test client against the bytes of a stock server: what it proves about ours must be true of it, too. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { kubernetes } from '../../src/identity.ts';
import { BinaryTypes, missingFacts } from './binary-types.ts';
import { openEnvelope } from './wire.ts';

const folder = join(import.meta.dirname, '../../../shared/fixtures/wire');
const missing = missingFacts ?? (existsSync(folder) ? undefined : 'the fixtures (../shared/fixtures/wire) are not here');
const names = missing === undefined ? readdirSync(folder).flatMap((file) => (file.endsWith('.json') ? [file.slice(0, -5)] : [])) : [];
const types = new BinaryTypes(kubernetes);

describe.skipIf(missing !== undefined)(`the codec of the test client${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  test.each(names)('%s', (name) => {
    const bytes = readFileSync(join(folder, `${name}.pb`));
    const object = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
    const { kind, apiVersion, raw } = openEnvelope(bytes);
    // An event of a watch does not say what it is.
    const type = name === 'core.v1.WatchEvent' ? 'meta.v1.WatchEvent' : types.typeOf(apiVersion, kind);
    const shown = types.plain(type, object);
    expect(types.plain(type, types.decode(type, raw))).toEqual(shown);
    expect(types.plain(type, types.decode(type, types.encode(type, object)))).toEqual(shown);
  });
});
