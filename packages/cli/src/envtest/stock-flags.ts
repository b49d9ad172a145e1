/**
 * Flags of a stock v1.24 API server that plat does not have, by the kind of value that each takes. In envtest mode they are
 * accepted: `--watch-cache=false` must not stop a test suite. Names alone; what plat has stands in flags.ts.
 */
import { bool, duration, type Flag, flag, int, text } from '@plat-dev/lib/flags';

const kinds = {
  switch: [
    'audit-log-batch-throttle-enable',
    'audit-log-truncate-enabled',
    'audit-webhook-batch-throttle-enable',
    'audit-webhook-truncate-enabled',
    'contention-profiling',
    'enable-garbage-collector',
    'enable-logs-handler',
    'permit-address-sharing',
    'permit-port-sharing',
    'shutdown-send-retry-after',
    'watch-cache',
    // Of the log, deprecated.
    'add-dir-header',
    'alsologtostderr',
    'experimental-logging-sanitization',
    'log-json-split-stream',
    'logtostderr',
    'one-output',
    'skip-headers',
    'skip-log-headers',
  ],
  integer: [
    'apiserver-count',
    'audit-log-batch-buffer-size',
    'audit-log-batch-max-size',
    'audit-log-batch-throttle-burst',
    'audit-log-truncate-max-batch-size',
    'audit-log-truncate-max-event-size',
    'audit-webhook-batch-throttle-burst',
    'audit-webhook-truncate-max-batch-size',
    'audit-webhook-truncate-max-event-size',
    'default-watch-cache-size',
    'delete-collection-workers',
    'http2-max-streams-per-connection',
    'kubelet-port',
    'kubelet-read-only-port',
    'kubernetes-service-node-port',
    'lease-reuse-duration-seconds',
    'log-file-max-size',
    'max-connection-bytes-per-sec',
  ],
  float: ['audit-log-batch-throttle-qps', 'audit-webhook-batch-throttle-qps', 'goaway-chance'],
  duration: [
    'audit-log-batch-max-wait',
    'etcd-compaction-interval',
    'etcd-count-metric-poll-period',
    'etcd-db-metric-poll-interval',
    'etcd-healthcheck-timeout',
    'kubelet-timeout',
    'log-flush-frequency',
  ],
  text: [
    'allow-metric-labels',
    'audit-log-mode',
    'audit-log-version',
    'authorization-policy-file',
    'azure-container-registry-config',
    'cloud-config',
    'cloud-provider',
    'cloud-provider-gce-l7lb-src-cidrs',
    'disabled-metrics',
    'egress-selector-config-file',
    'endpoint-reconciler-type',
    'etcd-servers-overrides',
    'external-hostname',
    'insecure-bind-address',
    'log-backtrace-at',
    'log-dir',
    'log-file',
    'log-json-info-buffer-size',
    'master-service-namespace',
    'stderrthreshold',
    'storage-backend',
    'storage-media-type',
    'strict-transport-security-directives',
    'vmodule',
    'watch-cache-sizes',
  ],
} as const;

const help = 'Accepted without effect.';

function readFloat(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number)) throw new Error(`${JSON.stringify(value)} is not a number`);
  return number;
}
const make: Readonly<Record<keyof typeof kinds, () => Flag<unknown>>> = {
  switch: () => bool(false, help),
  integer: () => int(0, help, { min: Number.MIN_SAFE_INTEGER }),
  float: () => flag(0, help, 'NUMBER', readFloat),
  duration: () => duration('0s', help),
  text: () => text('', help),
};

/** Flags without any effect here. */
export const stockFlags: Readonly<Record<string, Flag<unknown>>> = Object.fromEntries(
  Object.entries(kinds).flatMap(([kind, names]) => names.map((name) => [name, make[kind as keyof typeof kinds]()])),
);
