/** The feature APIServerTracing: what a collector that speaks OTLP over gRPC is sent. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import { afterAll, describe, expect, test } from 'vitest';
import { readFeatureGates } from '../../packages/kinds/src/feature-gates.ts';
import { FakeClock } from '../../packages/lib/src/clock.ts';
import { seededRandom } from '../../packages/lib/src/random.ts';
import { testSeed } from '../../packages/lib/src/testing/seed.testing.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { kubernetes, plat } from '../../packages/meta/src/identity.ts';
import { Context } from '../../packages/server/src/context.ts';
import { requestInfo } from '../../packages/server/src/request/request-info.ts';
import { readTracingConfiguration } from '../../packages/server/src/tracing/configuration.ts';
import { BATCH, MAX_QUEUED, Tracing } from '../../packages/server/src/tracing/tracing.ts';
import { type Loose, startTestServer } from '../support/server.ts';

/** As the public protocol has them, as far as spans use it. */
const proto = protobuf.parse(`
  syntax = "proto3";
  message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
  message Scope { string name = 1; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6; fixed64 start_time_unix_nano = 7;
    fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9; repeated Link links = 13; Status status = 15;
  }
  message Link { bytes trace_id = 1; bytes span_id = 2; }
  message Status { string message = 2; int32 code = 3; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message AnyValue { oneof value { string string_value = 1; int64 int_value = 3; } }
`).root;
const decode = (bytes: Buffer): Loose => {
  const type = proto.lookupType('ExportTraceServiceRequest');
  return type.toObject(type.decode(bytes), { longs: Number });
};
const plainOf = (attributes: Loose[]): Loose =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));

const ends: (() => void | Promise<void>)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

/** A collector, and what it was sent. */
async function collector(): Promise<{ port: number; batches: Buffer[] }> {
  const batches: Buffer[] = [];
  const server = new Server();
  const same = (bytes: Buffer): Buffer => bytes;
  const method = {
    path: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
  server.addService({ export: method } as never, {
    export: ({ request }: { request: Buffer }, done: (error: null, answer: Buffer) => void) => {
      batches.push(request);
      done(null, Buffer.alloc(0));
    },
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  ends.push(() => server.forceShutdown());
  return { port, batches };
}

test('--tracing-config-file: requests are reported to the collector', async () => {
  const { port, batches } = await collector();
  const file = join(temporaryDirectory('plat-tracing'), 'tracing.yaml');
  writeFileSync(
    file,
    `apiVersion: apiserver.config.k8s.io/v1alpha1\nkind: TracingConfiguration\nendpoint: 127.0.0.1:${port}\nsamplingRatePerMillion: 1000000\n`,
  );
  const features = readFeatureGates(new Map([['APIServerTracing', 'true']]));
  const server = await startTestServer({ identity: 'kubernetes', controllers: ['-*'], features, tracingConfigFile: file });
  const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`;
  const before = Date.now();
  const answer = await server.admin.get('/api/v1/namespaces/default/pods?limit=5', { traceparent });
  await server.close();
  const [{ resourceSpans }] = batches.map(decode);
  const [{ resource, scopeSpans }] = resourceSpans;
  expect(plainOf(resource.attributes)['service.name']).toBe('apiserver');
  const [span] = scopeSpans[0].spans;
  expect([span.name, span.kind, span.traceId.length, span.spanId.length]).toEqual(['KubernetesAPI', 2, 16, 8]);
  const hex = ({ traceId, spanId }: Loose): string[] => [traceId, spanId].map((id) => Buffer.from(id).toString('hex'));
  expect(span.links.map(hex)).toEqual([['ab'.repeat(16), 'cd'.repeat(8)]]);
  expect(span.endTimeUnixNano).toBeGreaterThanOrEqual(span.startTimeUnixNano);
  expect(span.startTimeUnixNano / 1e6).toBeGreaterThanOrEqual(before - 1);
  expect(plainOf(span.attributes)).toEqual({
    'http.method': 'GET',
    'http.target': '/api/v1/namespaces/default/pods?limit=5',
    'http.status_code': 200,
    'http.user_agent': 'test/1.0',
    'audit-id': answer.headers['audit-id'],
    verb: 'list',
    resource: 'pods',
    group: '',
    namespace: 'default',
  });
});

test('the steps of a request are spans below its own, and calls of etcd carry it', async () => {
  const { port, batches } = await collector();
  const file = join(temporaryDirectory('plat-tracing'), 'tracing.yaml');
  writeFileSync(
    file,
    `apiVersion: apiserver.config.k8s.io/v1alpha1\nkind: TracingConfiguration\nendpoint: 127.0.0.1:${port}\nsamplingRatePerMillion: 1000000\n`,
  );
  const traces: unknown[] = [];
  const server = await startTestServer({
    identity: 'kubernetes',
    controllers: ['-*'],
    features: readFeatureGates(new Map([['APIServerTracing', 'true']])),
    tracingConfigFile: file,
    wrapEngine: (engine) =>
      new Proxy(engine, {
        get: (target, name) => {
          const value = Reflect.get(target, name, target);
          if (name !== 'commit') return typeof value === 'function' ? value.bind(target) : value;
          return (operations: Loose[], ...more: unknown[]) => {
            if (operations[0]?.key.startsWith('core/configmaps/default/')) traces.push(operations[0].traceparent);
            return value.call(target, operations, ...more);
          };
        },
      }),
  });
  const path = '/api/v1/namespaces/default/configmaps';
  const { json } = await server.admin.send('POST', path, { body: { metadata: { name: 'a' } } });
  expect(json.kind).toBe('ConfigMap');
  await server.admin.ok('DELETE', `${path}/a`);
  await server.close();
  const hex = (id: Uint8Array): string => Buffer.from(id).toString('hex');
  const spans = batches.flatMap((batch) => decode(batch).resourceSpans[0].scopeSpans[0].spans);
  const requests = spans.filter(({ name }: Loose) => name === 'KubernetesAPI');
  expect(traces).toEqual(requests.map(({ traceId, spanId }: Loose) => `00-${hex(traceId)}-${hex(spanId)}-01`));
  const [create] = requests;
  const steps = spans.filter(({ parentSpanId }: Loose) => parentSpanId !== undefined && hex(parentSpanId) === hex(create.spanId));
  expect(steps.map(({ name }: Loose) => name)).toEqual(expect.arrayContaining(['store', 'sending']));
  for (const step of steps) {
    expect([step.kind, hex(step.traceId)]).toEqual([1, hex(create.traceId)]);
    expect(step.startTimeUnixNano).toBeGreaterThanOrEqual(create.startTimeUnixNano);
    expect(step.endTimeUnixNano).toBeLessThanOrEqual(create.endTimeUnixNano);
  }
});

describe('spans', () => {
  function tracing(samplingRatePerMillion: number, send: (batch: Buffer) => Promise<void>) {
    const clock = new FakeClock();
    const lost: [number, string][] = [];
    const made = new Tracing({
      samplingRatePerMillion,
      resource: {},
      clock,
      random: seededRandom(testSeed),
      send,
      lost: (spans, why) => void lost.push([spans, why]),
    });
    const serve = (count: number): void => {
      for (let i = 0; i < count; i++) {
        const ctx = new Context({ method: 'GET', url: '/api/v1/pods', headers: {}, httpVersionMajor: 1 } as never, {} as never, 0);
        ctx.info = requestInfo('GET', ctx.path, () => undefined);
        void made.step(ctx);
        for (const end of ctx.onFinished ?? []) end(ctx);
      }
    };
    return { made, clock, lost, serve };
  }
  const spansIn = (batch: Buffer): number => decode(batch).resourceSpans[0].scopeSpans[0].spans.length;

  test('of webhooks are below the one of admission, each at its time', async () => {
    const batches: Buffer[] = [];
    const { made, clock } = tracing(1_000_000, async (batch) => void batches.push(batch));
    const began = clock.monotonic();
    const ctx = new Context({ method: 'POST', url: '/api/v1/pods', headers: {}, httpVersionMajor: 1 } as never, {} as never, began);
    ctx.info = requestInfo('POST', ctx.path, () => undefined);
    void made.step(ctx);
    await clock.advance(1000);
    for (const [name, from, to] of [
      ['authentication', 0, 1],
      ['admission', 100, 400],
      ['store', 500, 700],
    ] as const) {
      const moments = [began + from, began + to].values();
      await ctx.timing.during(name, () => moments.next().value ?? 0, Promise.resolve());
    }
    ctx.timing.addWebhook('check.example.com', began + 150, 200);
    ctx.timing.answeredAt = began + 900;
    for (const end of ctx.onFinished ?? []) end(ctx);
    await made.close();
    const spans: Loose[] = decode(batches[0] as Buffer).resourceSpans[0].scopeSpans[0].spans;
    const nameOf = (id: Uint8Array | undefined): string | undefined =>
      spans.find(({ spanId }) => id !== undefined && Buffer.from(spanId).equals(id))?.name;
    const start = spans[0]?.startTimeUnixNano;
    const times = spans.map((span) => [
      span.name,
      nameOf(span.parentSpanId),
      Math.round((span.startTimeUnixNano - start) / 1e6),
      Math.round((span.endTimeUnixNano - start) / 1e6),
    ]);
    expect(times).toEqual([
      ['KubernetesAPI', undefined, 0, 1000],
      ['authentication', 'KubernetesAPI', 0, 1],
      ['admission', 'KubernetesAPI', 100, 400],
      ['webhook', 'admission', 150, 350],
      ['store', 'KubernetesAPI', 500, 700],
      ['sending', 'KubernetesAPI', 900, 1000],
    ]);
    expect(plainOf(spans[3]?.attributes)).toEqual({ webhook: 'check.example.com' });
  });

  test('are of some requests, as the rate says', async () => {
    const batches: Buffer[] = [];
    const { made, clock, serve } = tracing(100_000, async (batch) => void batches.push(batch));
    serve(1000);
    expect(batches).toEqual([]);
    await clock.advance(5000);
    const [count] = batches.map(spansIn);
    expect(count).toBeGreaterThan(50);
    expect(count).toBeLessThan(200);
    await made.close();
    const none = tracing(0, () => Promise.reject(new Error('none')));
    none.serve(100);
    await none.made.close();
    expect(none.lost).toEqual([]);
  });

  test('wait while a batch is under way, and those beyond the bound are lost and counted', async () => {
    const batches: Buffer[] = [];
    let release: () => void = () => {};
    const { made, lost, serve } = tracing(1_000_000, (batch) => {
      batches.push(batch);
      return new Promise((resolve) => {
        release = resolve;
      });
    });
    serve(BATCH + MAX_QUEUED + 3);
    expect(batches.map(spansIn)).toEqual([BATCH]);
    expect(lost).toEqual(Array(3).fill([1, 'too many spans wait to be sent']));
    release();
    await new Promise((resolve) => setImmediate(resolve));
    expect(batches.map(spansIn)).toEqual([BATCH, BATCH]);
    release();
    void made;
  });

  test('that the collector does not take are lost', async () => {
    const { clock, lost, serve } = tracing(1_000_000, () => Promise.reject(new Error('no')));
    serve(2);
    await clock.advance(5000);
    expect(lost).toEqual([[2, 'no']]);
  });
});

test.each([
  [{}, 'must have kind: TracingConfiguration and apiVersion: apiserver.config.k8s.io/v1alpha1'],
  [{ samplingRatePerMillion: -1 }, 'samplingRatePerMillion: -1 is not a whole number from 0 to 1000000'],
  [{ samplingRatePerMillion: 1_000_001 }, 'samplingRatePerMillion: 1000001 is not'],
  [{ endpoint: 'unix:///x' }, 'endpoint: "unix:///x" is not of the form host:port'],
  [{ sampling: 1 }, 'unknown field sampling'],
])('a configuration that cannot be used is refused: %o', (fields, message) => {
  const head = { kind: 'TracingConfiguration', apiVersion: 'apiserver.config.k8s.io/v1alpha1' };
  const value = Object.keys(fields).length === 0 ? {} : { ...head, ...fields };
  expect(() => readTracingConfiguration(value as never, kubernetes)).toThrow(message);
  expect(readTracingConfiguration(head, plat)).toEqual({ endpoint: 'localhost:4317', samplingRatePerMillion: 0 });
});
