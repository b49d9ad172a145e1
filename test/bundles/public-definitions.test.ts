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
import { jsonText } from '../../packages/lib/src/json-text.ts';
import { DecodeError } from '../../packages/schema/src/errors.ts';
import { parseYamlDocuments } from '../../packages/schema/src/yaml/index.ts';
import { define, withRules } from '../support/custom.ts';
import { type Answer, type Loose, startTestServer, type TestServer } from '../support/server.ts';

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
    server = await startTestServer({ identity: 'kubernetes', store: 'memory', features: withRules });
  });
  afterAll(() => server.close());

  test('all definitions are accepted', async () => {
    const refused: string[] = [];
    let rules = 0;
    for (const { file, object } of objectsIn(join(directory, bundle, 'definitions'))) {
      if (object.kind !== 'CustomResourceDefinition') continue;
      rules += jsonText(object).split('"rule":').length - 1;
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
    const wrong: string[] = [];
    let tried = 0;
    for (const { file, object } of objectsIn(join(directory, bundle, sort))) {
      // Some bundles say with an invalid object what the refusal has to contain.
      const { _err: expected = '', ...body } = object;
      const answer = await created(body);
      if (answer === undefined) continue;
      tried++;
      const refused = answer.status === 422 || answer.status === 400;
      if (sort === 'valid' ? answer.status === 201 : refused && answer.json.message.includes(expected)) continue;
      const line = `${file}: ${body.kind} ${body.metadata?.name}: ${answer.status} ${answer.status === 201 ? '' : answer.json.message}`;
      otherwise.push(line);
      if (sort === 'valid' ? !refused || isByRules(answer.json) : !refused) wrong.push(line);
    }
    report(`${bundle}: ${tried} ${sort} objects tried, ${otherwise.length} answered otherwise`);
    for (const line of otherwise) report(`  ${line.slice(0, 1500)}`);
    // Examples in documentation have placeholders, which their schemas refuse; rules refuse none of them.
    expect(wrong).toEqual([]);
  });

  /** Undefined for objects of other kinds. */
  async function created(body: Loose): Promise<Answer | undefined> {
    const { group, version } = /^(?<group>.+)\/(?<version>.+)$/.exec(String(body.apiVersion))?.groups ?? {};
    const definition = kinds.get(`${group} ${body.kind}`);
    if (definition?.spec.versions.some((one: Loose) => one.name === version && one.served) !== true) return undefined;
    const { scope, names } = definition.spec;
    const namespaced = scope === 'Namespaced';
    const metadata = { ...body.metadata, ...(namespaced && { namespace: 'default' }) };
    const path = `/apis/${group}/${version}${namespaced ? '/namespaces/default' : ''}/${names.plural}?dryRun=All`;
    return server.admin.post(path, { ...body, metadata });
  }
});

/** Whether nothing but rules refused an object. */
function isByRules({ details }: Loose): boolean {
  const causes: Loose[] = details?.causes ?? [];
  return !causes.some(
    ({ field, message }) => field.startsWith('metadata') || /in body|Required value|Too many|Unsupported value/.test(message),
  );
}
