/** Certificate signing requests: which conditions and certificates pass through status and approval, and who owns what. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeRequest, newAuthority, newKeyPair, noNames } from '../../packages/pki/src/index.ts';
import { type Loose, startTestServer, type TestServer } from '../support/server.ts';
import { answers } from './table.ts';

const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const request = base64(makeRequest({ commonName: 'jane', organizations: ['dev'] }, newKeyPair(), noNames));
const certificate = base64(newAuthority('issued', Date.now()).certificate);

let server: TestServer;
beforeAll(async () => {
  // Nobody signs, and nobody clears old requests away.
  server = await startTestServer({ identity: 'kubernetes', controllers: ['-*'] });
});
afterAll(() => server.close());

let serial = 0;
async function made(metadata: Loose = {}): Promise<string> {
  const name = `r${++serial}`;
  const spec = { request, signerName: 'example.com/mine', usages: ['client auth'] };
  await answers(server.admin, [['POST', path, { metadata: { name, ...metadata }, spec }, 201]]);
  return `${path}/${name}`;
}
const condition = (type: string, more: Loose = {}): Loose => ({ type, status: 'True', reason: 'Because', message: 'said so', ...more });
const conditions = (...list: Loose[]): Loose => ({ status: { conditions: list } });
const at = 'status.conditions';

test('a status may repeat a decision, and does not change it', async () => {
  const one = await made();
  const since = '2020-01-01T00:00:00Z';
  const approved = condition('Approved', { lastUpdateTime: since, lastTransitionTime: since });
  await answers(server.admin, [
    ['PATCH', `${one}/approval`, conditions(approved), 200, conditions(approved)],
    ['PATCH', `${one}/status`, conditions(condition('Approved', { message: 'changed', reason: 'Other' })), 200, conditions(approved)],
    // Not even to what it may not be.
    ['PATCH', `${one}/status`, conditions(condition('Approved', { status: 'False' })), 200, conditions(approved)],
    ['PATCH', `${one}/status`, conditions(condition('Failed'), condition('Approved', { message: 'changed' })), 200],
    ['GET', one, undefined, 200, conditions(condition('Failed'), approved)],
    ['PATCH', `${one}/status`, conditions(condition('Failed')), 422, [`${at} Forbidden`]],
    ['PATCH', `${one}/status`, conditions(), 422, [`${at} Forbidden`, `${at} Forbidden`]],
    [
      'PATCH',
      `${one}/status`,
      conditions(condition('Failed'), approved, condition('Denied')),
      422,
      [`${at}[2].type Invalid`, `${at} Forbidden`],
    ],
    ['PATCH', `${one}/status`, conditions(condition('Failed'), approved, approved), 422, [`${at}[2].type Duplicate`, `${at} Forbidden`]],
  ]);
});

test('an approval may say why anew, decides once, and brings no certificate', async () => {
  const one = await made();
  await answers(server.admin, [
    [
      'PATCH',
      `${one}/approval`,
      { status: { certificate, ...conditions(condition('Approved')).status } },
      200,
      conditions(condition('Approved')),
    ],
    [
      'PATCH',
      `${one}/approval`,
      conditions(condition('Approved', { message: 'again' })),
      200,
      conditions(condition('Approved', { message: 'again' })),
    ],
    ['PATCH', `${one}/approval`, conditions(condition('Denied')), 422, [`${at} Forbidden`]],
    ['PATCH', `${one}/approval`, conditions(condition('Approved'), condition('Denied')), 422, [`${at}[1].type Invalid`]],
    ['PATCH', `${one}/approval`, conditions(condition('Approved', { status: 'Unknown' })), 422, [`${at}[0].status NotSupported`]],
    [
      'PATCH',
      `${one}/approval`,
      conditions(condition('Approved'), { type: '' }),
      422,
      [`${at}[1].type Required`, `${at}[1].status Required`],
    ],
    [
      'PATCH',
      `${one}/approval`,
      conditions(condition('Approved'), condition('Mine', { status: 'Odd' })),
      422,
      [`${at}[1].status NotSupported`],
    ],
    ['PATCH', `${one}/approval`, conditions(condition('Approved'), condition('Mine', { status: 'False' })), 200],
    ['PATCH', one, conditions(condition('Denied')), 200],
  ]);
  const { status } = (await server.admin.get(one)).json;
  expect(Object.keys(status)).toEqual(['conditions']);
  expect(status.conditions.map((each: Loose) => each.type)).toEqual(['Approved', 'Mine']);
});

test('the time of a condition stays as long as its status does', async () => {
  const one = await made();
  const first = await answers(server.admin, [
    ['PATCH', `${one}/approval`, conditions(condition('Approved', { lastTransitionTime: '2020-01-01T00:00:00Z' })), 200],
  ]);
  expect(first.status.conditions[0].lastTransitionTime).toBe('2020-01-01T00:00:00Z');
  const second = await answers(server.admin, [['PATCH', `${one}/approval`, conditions(condition('Approved', { message: 'later' })), 200]]);
  expect(second.status.conditions[0]).toMatchObject({ message: 'later', lastTransitionTime: '2020-01-01T00:00:00Z' });
});

test('a certificate is issued once', async () => {
  const one = await made();
  const issue = (value: unknown): Loose => ({ status: { certificate: value } });
  await answers(server.admin, [
    ['PATCH', `${one}/status`, issue(''), 200],
    ['PATCH', `${one}/status`, issue(base64('nothing')), 422, ['status.certificate Invalid']],
    ['PATCH', `${one}/status`, issue(request), 422, ['status.certificate Invalid']],
    ['PATCH', `${one}/status`, issue(certificate), 200, { status: { certificate } }],
    ['PATCH', `${one}/status`, issue(certificate), 200],
    ['PATCH', `${one}/status`, issue(base64(`\n${Buffer.from(certificate, 'base64')}`)), 422, ['status.certificate Forbidden']],
    ['PATCH', `${one}/status`, issue(null), 422, ['status.certificate Forbidden']],
    ['PATCH', `${one}/approval`, { status: { certificate: null, conditions: [condition('Approved')] } }, 200, { status: { certificate } }],
    ['PATCH', one, issue(null), 200, { status: { certificate } }],
  ]);
});

test('signers: one fault for each part of the name, and names of objects with their namespace fit', async () => {
  const row = (signerName: string, causes: string[] | 201) =>
    [
      'POST',
      `${path}?dryRun=All`,
      { metadata: { name: 'x' }, spec: { request, usages: ['any'], signerName } },
      causes === 201 ? 201 : 422,
      causes === 201 ? undefined : causes.map((reason) => `spec.signerName ${reason}`),
    ] as never;
  const domain = `${'a'.repeat(62)}.`.repeat(4);
  await answers(server.admin, [
    row(`example.com/${'a'.repeat(63)}.${'b'.repeat(253)}`, 201),
    row(`${domain.slice(0, 249)}.com/${'a'.repeat(63)}.${'b'.repeat(253)}`, 201),
    row(`${domain.slice(0, 249)}.comm/${'a'.repeat(63)}.${'b'.repeat(253)}`, ['TooLong', 'TooLong']),
    row(`example.com/${'a'.repeat(254)}`, ['Invalid']),
    row('e_x.c_m/x', ['Invalid']),
    row('e_x.com/X.Y', ['Invalid', 'Invalid']),
    row('example/x_y', ['Invalid', 'Invalid']),
    row('example.com/a..b', ['Invalid']),
    row(`${'a'.repeat(64)}.com/x`, ['Invalid']),
    row('/x', ['Invalid', 'Invalid']),
  ]);
});

test('what is asked has no owners; labels, decisions and certificates have', async () => {
  const owners = async (one: string): Promise<Loose> =>
    (await server.admin.get(one)).json.metadata.managedFields?.map(({ subresource, fieldsV1 }: Loose) => [
      subresource,
      Object.keys(fieldsV1),
    ]);
  const plain = await made();
  await answers(server.admin, [['PATCH', `${plain}/approval`, conditions(condition('Approved')), 200]]);
  expect(await owners(plain)).toBeUndefined();
  const labelled = await made({ labels: { a: 'b' } });
  expect(await owners(labelled)).toEqual([[undefined, ['f:metadata']]]);
  await answers(server.admin, [
    ['PATCH', `${labelled}/approval`, conditions(condition('Approved')), 200],
    ['PATCH', `${labelled}/status`, { status: { certificate, ...conditions(condition('Approved'), condition('Failed')).status } }, 200],
  ]);
  const entries = (await server.admin.get(labelled)).json.metadata.managedFields;
  expect(entries.find((entry: Loose) => entry.subresource === 'approval').fieldsV1['f:status']['f:conditions']).toBeDefined();
  expect(Object.keys(entries.find((entry: Loose) => entry.subresource === 'status').fieldsV1['f:status'])).toEqual(['f:certificate']);
});
