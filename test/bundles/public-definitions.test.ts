/**
 * Definitions that others publish, tried on a server. They are not kept here: DEFINITIONS_DIRECTORY names a directory with one
 * folder for each bundle, and in that
 *
 *   definitions/  YAML files with CustomResourceDefinitions: all must be accepted
 *   valid/        objects of these kinds that must be accepted, and
 *   invalid/      that must be refused; what is of other kinds, or not YAML by itself, is passed over
 *
 * DEFINITIONS_REPORT names a file for the figures of each bundle and every object that was answered otherwise.
 */
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DecodeError } from '../../src/schema/errors.ts';
import { parseYamlDocuments } from '../../src/schema/yaml.ts';
import { define } from '../support/custom.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';

const directory = process.env.DEFINITIONS_DIRECTORY ?? '';
const bundles = directory === '' ? [] : readdirSync(directory).sort();

/** The objects in all YAML files below a folder. */
function* objectsIn(folder: string): Generator<{ readonly file: string; readonly object: Loose }> {
  if (!existsSync(folder)) return;
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!/\.ya?ml$/.test(file)) continue;
    let documents: Loose[];
    try {
      documents = [...parseYamlDocuments(readFileSync(join(folder, file), 'utf8'))];
    } catch (error) {
      if (error instanceof DecodeError) continue;
      throw error;
    }
    for (const object of documents) if (typeof object?.kind === 'string') yield { file, object };
  }
}

function report(line: string): void {
  if (process.env.DEFINITIONS_REPORT !== undefined) appendFileSync(process.env.DEFINITIONS_REPORT, `${line}\n`);
}

if (bundles.length === 0) test.skip('set DEFINITIONS_DIRECTORY to try public definitions', () => {});

describe.each(bundles)('%s', (bundle) => {
  let server: TestServer;
  /** Definitions by group and kind. */
  const kinds = new Map<string, Loose>();
  beforeAll(async () => {
    server = await startTestServer({ identity: 'kubernetes', store: 'memory' });
  });
  afterAll(() => server.close());

  test('all definitions are accepted', async () => {
    const refused: string[] = [];
    let rules = 0;
    for (const { file, object } of objectsIn(join(directory, bundle, 'definitions'))) {
      if (object.kind !== 'CustomResourceDefinition') continue;
      rules += JSON.stringify(object).split('"rule":').length - 1;
      try {
        await define(server, object);
        kinds.set(`${object.spec.group} ${object.spec.names.kind}`, object);
      } catch (error) {
        refused.push(`${file}: ${String(error).slice(0, 2000)}`);
      }
    }
    report(`${bundle}: ${kinds.size} definitions with ${rules} rules accepted, ${refused.length} refused`);
    for (const line of refused) report(`  refused: ${line}`);
    expect(refused).toEqual([]);
  });

  test.each(['valid', 'invalid'])('%s objects', async (sort) => {
    const otherwise: string[] = [];
    let tried = 0;
    for (const { file, object } of objectsIn(join(directory, bundle, sort))) {
      const { group, version } = /^(?<group>.+)\/(?<version>.+)$/.exec(String(object.apiVersion))?.groups ?? {};
      const definition = kinds.get(`${group} ${object.kind}`);
      if (definition?.spec.versions.some((one: Loose) => one.name === version && one.served) !== true) continue;
      const { scope, names } = definition.spec;
      const namespace = scope === 'Namespaced' ? '/namespaces/default' : '';
      const { _err, ...body } = object;
      const metadata = { ...body.metadata, ...(scope === 'Namespaced' && { namespace: 'default' }) };
      const path = `/apis/${group}/${version}${namespace}/${names.plural}?dryRun=All`;
      const answer = await server.admin.post(path, { ...body, metadata });
      tried++;
      const refusal = answer.status === 422 || answer.status === 400;
      const expected = _err === undefined || answer.text.includes(JSON.stringify(_err).slice(1, -1));
      if ((sort === 'valid' ? answer.status === 201 : refusal) && expected) continue;
      otherwise.push(
        `${file}: ${object.kind} ${body.metadata?.name}: ${answer.status} ${answer.status === 201 ? '' : answer.json.message}`,
      );
    }
    report(`${bundle}: ${tried} ${sort} objects tried, ${otherwise.length} answered otherwise`);
    for (const line of otherwise) report(`  ${line.slice(0, 1500)}`);
  });
});
