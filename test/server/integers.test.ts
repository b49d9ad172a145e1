/** Integers come back as they were sent, or are refused: none is changed on the way. */
import { expect, test } from 'vitest';
import { encodeEnvelope } from '../../src/schema/envelope.ts';
import { define, definitionOf } from '../support/custom.ts';
import { unique } from '../support/server.ts';
import { onStores } from '../support/stores.ts';

const KEPT = ['9007199254740991', '-9007199254740991', '9007199254740992', '1000000000000000000', '0.1234567890123456', '1e300'];
const REFUSED = ['9007199254740993', '-9007199254740993', '9223372036854775807', '1152921504606846976', '123456789012345678901234567890'];

onStores(['memory', 'lmdb'], { identity: 'kubernetes' }, (server) => {
  const things = async () => {
    const group = `${unique('g')}.example.com`;
    await define(
      server(),
      definitionOf(server(), group, 'Thing', [{ schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }]),
    );
    const path = `/apis/${group}/v1/namespaces/${await server().namespace()}/things`;
    const json = (name: string, number: string) =>
      `{"apiVersion":"${group}/v1","kind":"Thing","metadata":{"name":"${name}"},"text":"${REFUSED[0]}","number":${number}}`;
    return { group, path, json };
  };
  const exactly = (text: string) => [400, expect.stringContaining(`number ${text} cannot be kept exactly`)];

  test('in JSON, YAML, patches and applies of custom objects', async () => {
    const { admin } = server();
    const { group, path, json } = await things();
    for (const [i, number] of KEPT.entries()) {
      expect((await admin.post(path, json(`k${i}`, number))).status).toBe(201);
      expect((await admin.get(`${path}/k${i}`)).text).toMatch(
        new RegExp(`"number":${number.replace('.', '\\.').replace('e300', 'e\\+300')}[,}]`),
      );
    }
    for (const number of REFUSED) {
      const told = ({ status, json: answer }: { status: number; json: { message: string } }) => [status, answer.message];
      expect(told(await admin.post(path, json('a', number)))).toEqual(exactly(number));
      const yaml = `apiVersion: ${group}/v1\nkind: Thing\nmetadata: {name: a}\nnumber: ${number}\n`;
      expect(told(await admin.post(path, yaml, { 'content-type': 'application/yaml' }))).toEqual(exactly(number));
      expect(told(await admin.patch(`${path}/a?fieldManager=m`, yaml, 'apply-patch'))).toEqual(exactly(number));
      expect(told(await admin.patch(`${path}/k0`, `[{"op":"add","path":"/number","value":${number}}]`, 'json-patch'))).toEqual(
        exactly(number),
      );
      expect((await admin.patch(`${path}/k0`, `{"number":${number}}`)).status).toBe(400);
    }
    expect((await admin.get(`${path}/k0`)).text).toContain(`"number":${KEPT[0]}`);
  });

  test('in fields of built-in kinds, in JSON and in the binary form', async () => {
    const { admin } = server();
    const path = `/api/v1/namespaces/${await server().namespace()}/pods`;
    const pod = (seconds: string) =>
      `{"metadata":{"name":"${unique()}"},"spec":{"terminationGracePeriodSeconds":${seconds},"containers":[{"name":"a","image":"b"}]}}`;
    expect((await admin.post(`${path}?dryRun=All`, pod('9007199254740991'))).text).toContain(
      '"terminationGracePeriodSeconds":9007199254740991',
    );
    expect((await admin.post(path, pod('9007199254740993'))).status).toBe(400);
    // spec (2) with terminationGracePeriodSeconds (4) of 2^63-1.
    const most = [0x20, ...Array(8).fill(0xff), 0x7f];
    const raw = Buffer.from([0x12, most.length, ...most]);
    const body = encodeEnvelope({ apiVersion: 'v1', kind: 'Pod', raw });
    const answer = await admin.post(path, body, { 'content-type': 'application/vnd.kubernetes.protobuf' });
    expect([answer.status, answer.json.message]).toEqual(exactly('9223372036854775807'));
  });
});
