/** The audit backends of a server, by its options. */
import { readFile } from 'node:fs/promises';
import type { Metrics } from '@plat-dev/lib/metrics';
import type { Identity } from '@plat-dev/meta/identity';
import type { AuditSink } from '@plat-dev/server/audit/sink';
import type { Trail } from '@plat-dev/server/audit/trail';
import { Outbound } from '@plat-dev/server/http-client/outbound';
import type { Catalog } from '@plat-dev/server/registry/catalog';
import type { Base } from '../base.ts';
import type { Trust } from '../credentials/trust.ts';
import { remoteOf } from './remote-of.ts';

const DAY_MS = 24 * 3600 * 1000;
/** Minimum time between log lines about a sink that fails. */
const PROBLEM_MS = 60_000;

export interface AuditDeps {
  readonly catalog: Catalog;
  readonly trust: Pick<Trust, 'own'>;
}

/** Undefined without a policy. Its parts are loaded only with one. */
export async function composeAudit(base: Base, { catalog, trust }: AuditDeps): Promise<Trail | undefined> {
  const { options, identity, metrics, log, clock } = base;
  const counters = auditMetrics(metrics);
  if (options.auditPolicyFile === undefined) return undefined;
  const { Trail } = await import('@plat-dev/server/audit/trail');
  const policy = await policyOf(options.auditPolicyFile, identity);
  const onLost = (plugin: string): ((events: number, why: string) => void) => {
    let last = Number.NEGATIVE_INFINITY;
    const errors = counters.errors.with(plugin);
    return (events, why) => {
      errors.inc(events);
      const now = clock.monotonic();
      if (now - last < PROBLEM_MS) return;
      last = now;
      log.error('audit events lost', { plugin, events, error: why });
    };
  };
  const sinks: AuditSink[] = [];
  if (options.auditLogPath !== '') sinks.push(await logFile(base, onLost('log')));
  if (options.auditWebhookConfigFile !== undefined)
    sinks.push(await webhook(base, trust, options.auditWebhookConfigFile, onLost('webhook')));
  return new Trail({ identity, catalog, policy, sinks, clock, metrics: counters });
}

async function policyOf(file: string, identity: Identity) {
  const [{ readPolicy }, { parseYaml }] = await Promise.all([import('@plat-dev/server/audit/policy'), import('@plat-dev/schema/yaml')]);
  try {
    return readPolicy(parseYaml(await readFile(file)), identity);
  } catch (error) {
    throw new Error(`--audit-policy-file ${file}: ${(error as Error).message}`);
  }
}

async function logFile({ options, clock }: Base, onLost: (events: number, why: string) => void): Promise<AuditSink> {
  const { LogFile } = await import('@plat-dev/server/audit/log-file');
  return LogFile.open({
    path: options.auditLogPath,
    format: options.auditLogFormat,
    maxBytes: options.auditLogMaxsize * 1024 * 1024,
    maxBackups: options.auditLogMaxbackup,
    maxAgeMs: options.auditLogMaxage * DAY_MS,
    compress: options.auditLogCompress,
    now: () => clock.now(),
    failed: (error, events) => onLost(events, error.message),
  });
}

async function webhook(
  { options, identity, clock, random }: Base,
  trust: Pick<Trust, 'own'>,
  file: string,
  dropped: (events: number, why: string) => void,
): Promise<AuditSink> {
  const { AuditWebhook } = await import('@plat-dev/server/audit/webhook');
  return new AuditWebhook({
    identity,
    remote: new Outbound(await remoteOf('audit-webhook-config-file', file, trust, clock), clock),
    mode: options.auditWebhookMode,
    bufferSize: options.auditWebhookBatchBufferSize,
    batchSize: options.auditWebhookBatchMaxSize,
    batchWaitMs: options.auditWebhookBatchMaxWait,
    initialBackoffMs: options.auditWebhookInitialBackoff,
    clock,
    random: random.float,
    dropped,
  });
}

/** Under the names of a stock server, which has them with or without a policy. */
function auditMetrics(metrics: Metrics) {
  return {
    events: metrics.counter({ name: 'apiserver_audit_event_total', help: 'Audit events that were made.' }).with(),
    errors: metrics.counter({ name: 'apiserver_audit_error_total', help: 'Audit events that were lost, by plug-in.', labels: ['plugin'] }),
    levels: metrics.counter({ name: 'apiserver_audit_level_total', help: 'Requests by the level of their recording.', labels: ['level'] }),
    rejected: metrics
      .counter({ name: 'apiserver_audit_requests_rejected_total', help: 'Requests refused because they could not be recorded.' })
      .with(),
  };
}
