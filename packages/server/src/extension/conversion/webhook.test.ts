import type { ApiObject } from '@plat-dev/kinds/kind';
import { ObjectMeta } from '@plat-dev/kinds/meta';
import { systemClock } from '@plat-dev/lib/clock';
import { Metrics } from '@plat-dev/lib/metrics';
import { ApiError } from '@plat-dev/meta/errors';
import { kubernetes } from '@plat-dev/meta/identity';
import { type JsonObject, type MessageType, object, opt } from '@plat-dev/schema/types';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebhookClient } from '../../admission/webhooks/client.ts';
import { caBundle, startWebhook, type TestWebhook } from '../../admission/webhooks/testing.ts';
import { conversionMetrics, type ObserveConversion } from './conversion-metrics.ts';
import { type ConvertedVersion, webhookConversion } from './webhook.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look where they like.
type Loose = any;

const schema = object('Door', { metadata: opt(0, ObjectMeta) }, { unknown: 'keep' }) as MessageType;
const v1: ConvertedVersion = { name: 'v1', apiVersion: 'example.com/v1', schema };
const v2: ConvertedVersion = { name: 'v2', apiVersion: 'example.com/v2', schema };
const door = (name: string, more: object = {}): ApiObject =>
  ({
    kind: 'Door',
    apiVersion: 'example.com/v1',
    metadata: { name, namespace: 'n', uid: `uid-${name}`, labels: { old: '1' }, finalizers: ['a/b'], ...more },
    spec: { host: name },
  }) as ApiObject;

/** What a good webhook answers. */
const converted = (review: Loose): Loose => ({
  apiVersion: review.apiVersion,
  kind: 'ConversionReview',
  response: {
    uid: review.request.uid,
    result: { status: 'Success' },
    convertedObjects: review.request.objects.map((one: Loose) => ({
      ...one,
      apiVersion: review.request.desiredAPIVersion,
      spec: { addr: one.spec.host },
    })),
  },
});

let reply: (review: Loose) => Loose;
let hook: TestWebhook;
let client: WebhookClient;
let metrics: Metrics;
let observe: ObserveConversion;
beforeEach(async () => {
  reply = converted;
  hook = await startWebhook((review, res) => {
    const answer = reply(review);
    res.statusCode = answer.httpStatus ?? 200;
    res.end(JSON.stringify(answer));
    return undefined;
  });
  client = new WebhookClient({
    clock: systemClock,
    credentials: () => ({}),
    resolve: () => ({ host: '127.0.0.1', port: hook.port }),
    userAgent: 'tests',
  });
  metrics = new Metrics({ version: '1.24' });
  observe = conversionMetrics(metrics);
});
afterEach(async () => {
  client.close();
  await hook.close();
});

function converter(conversionReviewVersions = ['v1'], clientConfig: Loose = { url: hook.url, caBundle }) {
  let uids = 0;
  const tools = { identity: kubernetes, client, newUid: () => `call-${++uids}`, now: () => 0, observe };
  return webhookConversion(tools, 'doors.example.com', { conversionReviewVersions, clientConfig });
}
const convert = (objects: ApiObject[], versions?: string[]) => converter(versions)(objects, v1, v2);
const refusal = async (objects: ApiObject[] = [door('a')], versions?: string[]): Promise<string> => {
  const error = await convert(objects, versions).then(
    () => undefined,
    (fault: unknown) => fault,
  );
  expect(error).toBeInstanceOf(ApiError);
  expect([(error as ApiError).code, (error as ApiError).reason]).toEqual([500, '']);
  return (error as ApiError).message;
};

test('a webhook is asked for all objects at once and answers in their order', async () => {
  const made = await convert([door('a'), door('b')]);
  expect(made.map((one: Loose) => [one.apiVersion, one.metadata.name, one.spec])).toEqual([
    ['example.com/v2', 'a', { addr: 'a' }],
    ['example.com/v2', 'b', { addr: 'b' }],
  ]);
  expect(hook.calls).toHaveLength(1);
  const [{ path, review }] = hook.calls as Loose;
  expect(path).toBe('/hook?timeout=30s');
  expect(review).toMatchObject({ kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1' });
  expect(review.request).toMatchObject({ uid: 'call-1', desiredAPIVersion: 'example.com/v2' });
  expect(review.response).toEqual({ uid: '', convertedObjects: null, result: { metadata: {} } });
  expect(review.request.objects.map((one: Loose) => `${one.apiVersion} ${one.metadata.uid}`)).toEqual([
    'example.com/v1 uid-a',
    'example.com/v1 uid-b',
  ]);
});

test('the first review version counts that both know; with none nothing is asked', async () => {
  await convert([door('a')], ['v9', 'v1beta1', 'v1']);
  expect(hook.calls[0]?.review.apiVersion).toBe('apiextensions.k8s.io/v1beta1');
  expect(await refusal([door('a')], ['v9'])).toBe('no supported conversion review versions');
  expect(hook.calls).toHaveLength(1);
});

test('many or large objects are sent in several calls', async () => {
  const many = Array.from({ length: 450 }, (_, i) => door(`d${i}`));
  expect((await convert(many)).map(({ metadata }) => metadata.name)).toEqual(many.map(({ metadata }) => metadata.name));
  expect(hook.calls.map(({ review }) => (review.request.objects as Loose).length).sort()).toEqual([200, 200, 50].sort());
  const large = [1, 2, 3].map((i) => ({ ...door(`l${i}`), spec: { host: 'x'.repeat(600_000) } }) as ApiObject);
  hook.calls.length = 0;
  await convert(large);
  expect(hook.calls).toHaveLength(3);
});

test('of metadata only labels and annotations may change', async () => {
  reply = (review) => {
    const answer = converted(review);
    Object.assign(answer.response.convertedObjects[0].metadata, {
      labels: { new: '2' },
      annotations: { a: 'b' },
      finalizers: ['c/d'],
      generation: 99,
      creationTimestamp: '2001-01-01T00:00:00Z',
    });
    return answer;
  };
  const [made] = await convert([door('a', { generation: 3 })]);
  expect(made?.metadata).toEqual({
    name: 'a',
    namespace: 'n',
    uid: 'uid-a',
    generation: 3,
    finalizers: ['a/b'],
    labels: { new: '2' },
    annotations: { a: 'b' },
  });
});

describe('what is no answer', () => {
  const begin = 'conversion webhook for example.com/v1, Kind=Door';
  const response = (change: (response: Loose) => void) => (review: Loose) => {
    const answer = converted(review);
    change(answer.response);
    return answer;
  };
  const first = (change: (object: Loose) => void) => response(({ convertedObjects: [one] }) => change(one));
  const cases: [string, (review: Loose) => Loose, string][] = [
    ['failure', response((r) => (r.result = { status: 'Failure', message: 'stuck' })), 'failed: stuck'],
    [
      'failure without a word',
      response((r) => (r.result = { status: 'Failure' })),
      "failed: response.result.status was 'Failure', not 'Success'",
    ],
    ['no result', response((r) => delete r.result), "failed: response.result.status was '', not 'Success'"],
    ['no response', (review) => ({ ...converted(review), response: undefined }), 'failed: no response provided'],
    ['another uid', response((r) => (r.uid = 'x')), 'failed: expected response.uid="call-1", got "x"'],
    ['too few', response((r) => (r.convertedObjects = [])), 'returned 0 objects, expected 1'],
    [
      'another version',
      first((o) => (o.apiVersion = 'example.com/v1')),
      'returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)',
    ],
    ['another kind', first((o) => (o.kind = 'Gate')), 'returned invalid object at index 0: invalid kind (expected Door, received Gate)'],
    ['another name', first((o) => (o.metadata.name = 'b')), 'returned invalid object: must have the same name: a != b'],
    ['another namespace', first((o) => (o.metadata.namespace = 'm')), 'returned invalid object: must have the same namespace: n != m'],
    ['another object', first((o) => (o.metadata.uid = 'u')), 'returned invalid object: must have the same UID: uid-a != u'],
    [
      'labels of numbers',
      first((o) => (o.metadata.labels = { a: 1 })),
      'returned invalid metadata: metadata.labels[a] must be a string, but is number in converted object',
    ],
    [
      'labels that are none',
      first((o) => (o.metadata.labels = 'a')),
      'returned invalid metadata: invalid metadata.labels of type string in converted object',
    ],
    ['no object', response((r) => (r.convertedObjects = [7])), 'returned invalid object at index 0: it is not an object'],
    [
      'a Status',
      () => ({ kind: 'Status', apiVersion: 'v1' }),
      'failed: converting (v1.Status) to (v1.ConversionReview): unknown conversion',
    ],
    [
      'something without a name',
      (review) => ({ response: converted(review).response }),
      'failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=',
    ],
    ['an error', () => ({ httpStatus: 500 }), 'failed: an error on the server ("unknown") has prevented the request from succeeding'],
    ['nobody there', () => ({ httpStatus: 404 }), 'failed: the server could not find the requested resource'],
  ];
  test.each(cases)('%s', async (_, answer, text) => {
    reply = answer;
    expect(await refusal()).toBe(`${begin} ${text}`);
  });

  test('labels that are not well formed', async () => {
    reply = first((o) => (o.metadata.labels = { 'a b': 'c' }));
    expect(await refusal()).toMatch(/returned invalid metadata: metadata\.labels: Invalid value: "a b"/);
  });

  test('of several objects the one at fault is named', async () => {
    reply = response(({ convertedObjects }) => (convertedObjects[1].metadata.name = 'x'));
    expect(await refusal([door('a'), door('b')])).toBe(
      `${begin} returned invalid converted object at index 1: must have the same name: b != x`,
    );
  });

  test('the older version is not strict about what an answer says of itself', async () => {
    reply = (review) => ({ response: { ...converted(review).response, uid: 'x' } });
    expect(await convert([door('a')], ['v1beta1'])).toHaveLength(1);
  });

  test('a webhook that is not there, or not the one that was meant', async () => {
    const at = (clientConfig: Loose) => converter(['v1'], clientConfig)([door('a')], v1, v2);
    await expect(at({ url: 'https://127.0.0.1:1/convert' })).rejects.toThrow(
      `${begin} failed: Post "https://127.0.0.1:1/convert?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused`,
    );
    await expect(at({ url: hook.url })).rejects.toThrow(/x509/);
  });
});

test('conversions are counted by definition, versions and outcome', async () => {
  await convert([door('a')]);
  reply = () => ({ httpStatus: 500 });
  await refusal();
  const text = metrics.expose();
  for (const succeeded of [true, false])
    expect(text).toContain(
      `apiserver_crd_webhook_conversion_duration_seconds_count{crd_name="doors.example.com",from_version="v1",succeeded="${succeeded}",to_version="v2"} 1`,
    );
});

test('when one call of several fails the others are not begun', async () => {
  const answers: JsonObject[] = [];
  reply = (review) => {
    answers.push(review);
    return { httpStatus: 500 };
  };
  await refusal(Array.from({ length: 2000 }, (_, i) => door(`d${i}`)));
  expect(answers.length).toBeLessThan(10);
});
