import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { define, definitionOf } from '../support/custom.ts';
import { type Plat, platFor } from '../support/plat.ts';
import { startTestServer, type TestServer, unique } from '../support/server.ts';

describe.each(['plat', 'kubernetes'])('explain with identity %s', (identity) => {
  let server: TestServer;
  let plat: Plat;
  const group = `${unique('g')}.example.com`;
  beforeAll(async () => {
    server = await startTestServer({ identity });
    plat = platFor(server);
    const schema = {
      type: 'object',
      description: 'A bed of one crop.',
      properties: {
        spec: {
          type: 'object',
          description: 'What should grow.',
          required: ['crop'],
          properties: {
            crop: { type: 'string', description: 'What is sown.', enum: ['kale', 'leek'], default: 'kale' },
            rows: { type: 'array', items: { type: 'object', properties: { length: { type: 'integer', minimum: 1, maximum: 9 } } } },
            tags: { type: 'object', additionalProperties: { type: 'string' } },
            width: { [`${server.identity.schemaExtensionPrefix}int-or-string`]: true },
          },
        },
      },
    };
    await define(server, definitionOf(server, group, 'Bed', [{ schema }]));
  });
  afterAll(() => server.close());

  test('a built-in kind', async () => {
    const said = await plat.ok(['explain', 'deploy']);
    expect(said).toMatch(/^KIND: {6}Deployment\nVERSION: {3}apps\/v1\n\nDESCRIPTION:\n/);
    expect(said).toContain('\n  metadata <ObjectMeta>\n');
    expect(said).toContain('\n  spec <DeploymentSpec>\n');
    expect(await plat.ok(['explain', 'pod.spec.containers.image'])).toContain('DESCRIPTION:\n    Container image to run');
  });

  test('fields, through lists and maps', async () => {
    const said = await plat.ok(['explain', 'pods.spec.containers']);
    expect(said).toContain('FIELD:     spec.containers <[]Container>\n');
    expect(said).toContain('\n  name <string> -required-\n');
    expect(said).toContain('\n  ports <[]ContainerPort>\n');
    expect(await plat.ok(['explain', 'pod.spec.containers.ports.containerPort'])).toContain('containerPort <integer>');
    expect(await plat.ok(['explain', 'pod.spec.nodeSelector'])).toContain('<map[string]string>');
    expect(await plat.ok(['explain', 'service.spec.ports.targetPort'])).toMatch(/<(integer or )?string>/);
  });

  test('a custom kind, with what its definition says', async () => {
    expect(await plat.ok(['explain', 'beds.spec'])).toBe(
      `KIND:      Bed\nVERSION:   ${group}/v1\nFIELD:     spec <object>\n\nDESCRIPTION:\n    What should grow.\n\nFIELDS:\n` +
        '  crop <string> -required-\n      What is sown.\n      One of "kale", "leek".\n      Default: "kale".\n' +
        '  rows <[]object>\n  tags <map[string]string>\n  width <integer or string>\n',
    );
    expect(await plat.ok(['explain', `beds.${group}.spec.rows.length`])).toContain('At least 1.\n    At most 9.\n');
    expect(await plat.ok(['explain', 'bed.spec', '--recursive'])).toContain('\n  rows <[]object>\n    length <integer>\n  tags');
  });

  test('what every custom object has', async () => {
    const said = await plat.ok(['explain', 'beds']);
    expect(said).toMatch(/apiVersion <string>\n +APIVersion defines /);
    expect(said).toMatch(/kind <string>\n +Kind is a string value /);
  });

  test('everything below, with kinds that hold themselves', async () => {
    const said = await plat.ok(['explain', 'crd', '--recursive']);
    expect(said).toContain('openAPIV3Schema <JSONSchemaProps>\n');
    expect(said.length).toBeLessThan(200_000);
  });

  test('another version', async () => {
    expect(await plat.ok(['explain', 'hpa', '--api-version=autoscaling/v1'])).toContain('VERSION:   autoscaling/v1\n');
    expect(await plat.ok(['explain', 'hpa.spec'])).toContain('VERSION:   autoscaling/v2\n');
    expect((await plat.run(['explain', 'hpa', '--api-version=autoscaling/v9'])).code).toBe(1);
  });

  test('what does not exist is reported with a suggestion', async () => {
    expect(await plat.run(['explain', 'pod.spec.contaners'])).toMatchObject({
      code: 1,
      stderr: 'plat: pod.spec has no field "contaners" (did you mean containers?)\n',
    });
    expect((await plat.run(['explain', 'podz.spec'])).stderr).toContain('"podz" (did you mean pods?)');
  });
});

test.each([
  [[], 'type missing'],
  [['pods', 'nodes'], 'too many arguments'],
])('%j is refused', async (args, message) => {
  const io = testIO();
  expect(await run(['explain', ...args], io)).toBe(2);
  expect(io.stderr).toContain(message);
});
