/** Numbers with a fraction or an exponent: fields for integers take none, however whole they are, and tests compare spellings. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { define, definitionOf } from '../support/custom.ts';
import { startTestServer, type TestServer, unique } from '../support/server.ts';
import { answers, type Row } from './table.ts';

let server: TestServer;
let namespace: string;
let path: string;
beforeAll(async () => {
  server = await startTestServer({ identity: 'kubernetes', direct: true });
  namespace = await server.namespace();
  path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  await answers(server.admin, [['POST', path, deployment('web', '1'), 201]]);
});
afterAll(() => server.close());

const template = '{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i:1.5"}]}}';
const deployment = (name: string, replicas: string, more = ''): string =>
  `{"metadata":{"name":"${name}"},"spec":{"replicas":${replicas},"selector":{"matchLabels":{"a":"b"}},"template":${template}${more}}}`;

test.each(['1.0', '1e0', '1E+0', '10e-1', '0.0', '1.5', '-0.0'])('%s is no integer', async (number) => {
  const dry = '?dryRun=All';
  const surge = `{"strategy":{"rollingUpdate":{"maxSurge":${number}}}}`;
  const rows: Row[] = [
    ['POST', `${path}${dry}`, deployment('x', number), 400, 'BadRequest'],
    ['PUT', `${path}/web${dry}`, deployment('web', number), 400, 'BadRequest'],
    ['POST', `${path}${dry}`, deployment('x', '1', `,"revisionHistoryLimit":${number}`), 400, 'BadRequest'],
    ['POST', `${path}${dry}`, deployment('x', '1', `,"strategy":{"rollingUpdate":{"maxSurge":${number}}}`), 400, 'BadRequest'],
    ['PATCH', `${path}/web${dry}`, `{"spec":{"replicas":${number}}}`, 422, ['patch Invalid']],
    ['PATCH', `${path}/web${dry}`, `{"spec":${surge}}`, 422, ['patch Invalid']],
    ['PATCH', `${path}/web/scale${dry}`, `{"spec":{"replicas":${number}}}`, 422, ['patch Invalid']],
    ['JSONPATCH', `${path}/web${dry}`, `[{"op":"replace","path":"/spec/replicas","value":${number}}]`, 422, ['patch Invalid']],
    ['JSONPATCH', `${path}/web${dry}`, `[{"op":"add","path":"/spec","value":${surge}}]`, 422, ['patch Invalid']],
    [
      'JSONPATCH',
      `${path}/web${dry}`,
      `[{"op":"add","path":"/spec/template/spec/containers/-","value":{"name":"d","ports":[{"containerPort":${number}}]}}]`,
      422,
      ['patch Invalid'],
    ],
    ['JSONPATCH', `${path}/web${dry}`, `[{"op":"test","path":"/spec/replicas","value":${number}}]`, 422, { reason: 'Invalid' }],
    ['DELETE', `${path}/web${dry}`, `{"gracePeriodSeconds":${number}}`, 400, 'BadRequest'],
  ];
  await answers(server.admin, rows);
});

test('the refusal names the number as it was sent, its field and its type', async () => {
  const { message } = await answers(server.admin, [['POST', path, deployment('x', '1.0'), 400]]);
  expect(message).toContain('cannot unmarshal number 1.0 into Go struct field DeploymentSpec.spec.replicas of type int32');
});

test('the first fault in the text counts, and other kinds are refused as such', async () => {
  const other = deployment('x', '1.0').replace('{', '{"apiVersion":"v1","kind":"ConfigMap",');
  const { message } = await answers(server.admin, [['POST', path, other, 400]]);
  expect(message).toContain('ConfigMap');
});

test('elsewhere such numbers are numbers', async () => {
  const dry = '?dryRun=All';
  const cpu = (value: string): string =>
    deployment('x', '1').replace('"image":"i:1.5"', `"image":"i:1.5","resources":{"limits":{"cpu":${value}}}`);
  const limits = (value: string): object => ({ spec: { template: { spec: { containers: [{ resources: { limits: { cpu: value } } }] } } } });
  await answers(server.admin, [
    ['POST', `${path}${dry}`, cpu('1.0'), 201, limits('1')],
    ['POST', `${path}${dry}`, cpu('0.5'), 201, limits('500m')],
    // Plain integers, and what a text holds.
    ['POST', `${path}${dry}`, deployment('x', '-0'), 201, { spec: { replicas: 0 } }],
    ['PATCH', `${path}/web${dry}`, '{"metadata":{"annotations":{"a":"[1.0, 1e3]"}}}', 200],
    ['PATCH', `${path}/web${dry}`, '{"spec":{"noSuchField":1.0}}', 200],
    // A strategic patch is laid over values, not over text.
    ['STRATEGIC', `${path}/web${dry}`, '{"spec":{"replicas":3.0}}', 200, { spec: { replicas: 3 } }],
    ['STRATEGIC', `${path}/web${dry}`, '{"spec":{"replicas":3.5}}', 422, ['patch Invalid']],
    ['JSONPATCH', `${path}/web${dry}`, '[{"op":"test","path":"/spec/replicas","value":1}]', 200],
  ]);
  const yaml = (body: string) => server.admin.send('POST', `${path}${dry}`, { body, headers: { 'content-type': 'application/yaml' } });
  expect((await yaml(deployment('x', '2.0'))).status).toBe(201);
  expect((await yaml(deployment('x', '2.5'))).status).toBe(400);
});

test('in custom objects a whole number is an integer, and comes back as one', async () => {
  const group = `${unique('g')}.example.com`;
  const properties = { count: { type: 'integer' }, ratio: { type: 'number' } };
  await define(
    server,
    definitionOf(server, group, 'Thing', [{ schema: { type: 'object', properties: { spec: { type: 'object', properties } } } }]),
  );
  const things = `/apis/${group}/v1/namespaces/${namespace}/things`;
  const thing = (name: string, spec: string): string =>
    `{"apiVersion":"${group}/v1","kind":"Thing","metadata":{"name":"${name}"},"spec":${spec}}`;
  await answers(server.admin, [
    ['POST', things, thing('a', '{"count":2.0,"ratio":1.5}'), 201, { spec: { count: 2, ratio: 1.5 } }],
    ['POST', things, thing('b', '{"count":2.5}'), 422, ['spec.count TypeInvalid']],
    ['PATCH', `${things}/a`, '{"spec":{"count":3e0}}', 200, { spec: { count: 3 } }],
    ['JSONPATCH', `${things}/a`, '[{"op":"test","path":"/spec/ratio","value":1.5}]', 200],
    ['JSONPATCH', `${things}/a`, '[{"op":"test","path":"/spec/ratio","value":1.50}]', 422, 'Invalid'],
    ['JSONPATCH', `${things}/a`, '[{"op":"test","path":"/spec","value":{"count":3.0,"ratio":1.5}}]', 422, 'Invalid'],
    ['JSONPATCH', `${things}/a`, '[{"op":"test","path":"/spec","value":{"count":3,"ratio":1.5}}]', 200],
  ]);
});

test('large bodies are read in steps, and refused as well', async () => {
  const pad = 'x'.repeat(400);
  const notes = Array.from({ length: 400 }, (_, i) => `"k${i}":"${pad}"`).join(',');
  const large = (replicas: string): string => deployment('x', replicas).replace('"name":"x"', `"name":"x","annotations":{${notes}}`);
  await answers(server.admin, [
    ['POST', `${path}?dryRun=All`, large('1.0'), 400, 'BadRequest'],
    ['POST', `${path}?dryRun=All`, large('1'), 201],
    ['PATCH', `${path}/web?dryRun=All`, `{"metadata":{"annotations":{${notes}}},"spec":{"replicas":1.0}}`, 422, ['patch Invalid']],
  ]);
});

test('an operation that is null is no operation', async () => {
  await answers(server.admin, [
    ['JSONPATCH', `${path}/web?dryRun=All`, '[null]', 422, 'Invalid'],
    ['JSONPATCH', `${path}/web?dryRun=All`, '[1]', 400, 'BadRequest'],
    ['JSONPATCH', `${path}/web?dryRun=All`, '[[]]', 400, 'BadRequest'],
  ]);
});
