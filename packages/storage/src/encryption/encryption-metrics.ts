/** Metrics of encryption, under the names of a stock server. No label holds anything of a key but its provider's prefix. */
import type { Counter, Gauge, Histogram, Metrics } from '@plat-dev/lib/metrics';
import { exponentialBuckets } from '@plat-dev/lib/metrics';
import type { EnvelopeObserver } from './plugin-keys.ts';
import type { Provider } from './provider.ts';
import type { TransformObserver } from './transformer.ts';

export interface EncryptionMetrics extends TransformObserver, EnvelopeObserver {
  reloaded(ok: boolean, seconds: number): void;
}

/** `k8s:enc:aescbc:v1:key1:` → `k8s:enc:aescbc:v1:` */
const withoutName = (prefix: string): string => /^[^:]+:enc:[^:]+:[^:]+:/.exec(prefix)?.[0] ?? 'unknown';

export function encryptionMetrics(metrics: Metrics): EncryptionMetrics {
  const operations = metrics.counter({
    name: 'apiserver_storage_transformation_operations_total',
    help: 'Values that were encrypted or decrypted.',
    labels: ['transformation_type', 'transformer_prefix', 'status'],
  });
  const durations = metrics.histogram({
    name: 'apiserver_storage_transformation_duration_seconds',
    help: 'Time that encrypting or decrypting a value takes.',
    labels: ['transformation_type'],
    buckets: exponentialBuckets(5e-6, 2, 25),
  });
  const generation = metrics
    .histogram({
      name: 'apiserver_storage_data_key_generation_duration_seconds',
      help: 'Time until a new key for one value is there, encrypted by its plug-in.',
      buckets: exponentialBuckets(5e-6, 2, 14),
    })
    .with();
  const failures = metrics
    .counter({ name: 'apiserver_storage_data_key_generation_failures_total', help: 'Keys for one value that could not be made.' })
    .with();
  const misses = metrics
    .counter({
      name: 'apiserver_storage_envelope_transformation_cache_misses_total',
      help: 'Values whose key had to be decrypted by a plug-in.',
    })
    .with();
  const fill = metrics
    .gauge({ name: 'apiserver_envelope_encryption_dek_cache_fill_percent', help: 'Share of the places for decrypted keys that are taken.' })
    .with();
  const reloads = {
    true: metrics.counter({
      name: 'apiserver_encryption_config_controller_automatic_reload_success_total',
      help: 'Encryption configurations that were taken into use without a restart.',
    }),
    false: metrics.counter({
      name: 'apiserver_encryption_config_controller_automatic_reload_failures_total',
      help: 'Encryption configurations that could not be used; the one before stays.',
    }),
  };
  const last = metrics.gauge({
    name: 'apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds',
    help: 'When an encryption configuration was last read again, by outcome.',
    labels: ['status'],
  });
  type Direction = 'to_storage' | 'from_storage';
  const succeeded = new WeakMap<Provider, Record<Direction, Counter>>();
  const countOf = (provider: Provider, direction: Direction, status: string): Counter =>
    operations.with(direction, withoutName(provider.prefix.toString('latin1')), status);
  const successes = (provider: Provider): Record<Direction, Counter> => {
    const counters = succeeded.get(provider);
    if (counters !== undefined) return counters;
    const newCounters = { to_storage: countOf(provider, 'to_storage', 'OK'), from_storage: countOf(provider, 'from_storage', 'OK') };
    succeeded.set(provider, newCounters);
    return newCounters;
  };
  const times: Readonly<Record<Direction, Histogram>> = {
    to_storage: durations.with('to_storage'),
    from_storage: durations.with('from_storage'),
  };
  return {
    transformed(direction, provider, ok, millis) {
      if (provider === undefined) operations.with(direction, 'unknown', 'Unknown').inc();
      else if (ok) successes(provider)[direction].inc();
      else countOf(provider, direction, 'Unknown').inc();
      times[direction].observe(millis / 1000);
    },
    cacheMiss: () => misses.inc(),
    cacheFill: (share) => (fill as Gauge).set(share),
    keyGenerated(millis, ok) {
      if (!ok) failures.inc();
      else generation.observe(millis / 1000);
    },
    reloaded(ok, seconds) {
      reloads[`${ok}`].with().inc();
      last.with(ok ? 'success' : 'failure').set(seconds);
    },
  };
}
