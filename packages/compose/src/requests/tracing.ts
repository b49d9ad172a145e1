/** Tracing of requests, configured by `--tracing-config-file`. Its modules are loaded only with the flag. */
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { serverComponent } from '@plat-dev/meta/identity';
import type { Tracing } from '@plat-dev/server/tracing/tracing';
import type { Base } from '../base.ts';

/** Timeout of a batch; the spans of a batch that times out are dropped. */
const SEND_TIMEOUT_MS = 10_000;
/** Larger batches are not sent; collectors accept less by default. */
const MOST_BATCH_BYTES = 16 * 1024 * 1024;
/** Dropped spans are logged at most this often. */
const PROBLEM_MS = 60_000;
const METHOD = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

/** Undefined without a file. */
export async function composeTracing({
  options,
  identity,
  clock,
  random,
  log,
  metrics,
}: Base): Promise<Pick<Tracing, 'step' | 'close'> | undefined> {
  const file = options.tracingConfigFile;
  if (file === undefined) return undefined;
  const [{ readTracingConfiguration }, { Tracing }, { parseYaml }, { Channel }] = await Promise.all([
    import('@plat-dev/server/tracing/configuration'),
    import('@plat-dev/server/tracing/tracing'),
    import('@plat-dev/schema/yaml'),
    import('@plat-dev/storage/grpc/channel'),
  ]);
  const configuration = await (async () => {
    try {
      return readTracingConfiguration(parseYaml(await readFile(file)), identity);
    } catch (error) {
      throw new Error(`--tracing-config-file ${file}: ${(error as Error).message}`);
    }
  })();
  const channel = new Channel({ target: configuration.endpoint, mostRequestBytes: MOST_BATCH_BYTES, clock, random });
  const dropped = metrics.counter({ name: 'apiserver_tracing_spans_lost_total', help: 'Spans that no collector took.' }).with();
  let reported = Number.NEGATIVE_INFINITY;
  const tracing = new Tracing({
    samplingRatePerMillion: configuration.samplingRatePerMillion,
    resource: { 'service.name': 'apiserver', 'service.instance.id': `${serverComponent(identity)}-${hostname()}` },
    clock,
    random,
    send: async (batch) => void (await channel.callWhenReady(METHOD, batch, SEND_TIMEOUT_MS)),
    lost: (spans, why) => {
      dropped.inc(spans);
      const now = clock.monotonic();
      if (now - reported < PROBLEM_MS) return;
      reported = now;
      log.warn('spans lost', { spans, error: why });
    },
  });
  return {
    step: tracing.step,
    close: async () => {
      await tracing.close();
      channel.close();
    },
  };
}
