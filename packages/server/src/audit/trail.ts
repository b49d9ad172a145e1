/**
 * The audit trail of a server: applies the policy to requests, observes those to be recorded and passes their events
 * to the sinks. A server without a policy has none, and its requests pay nothing.
 */

import type { Clock } from '@plat-dev/lib/clock';
import type { Counter, Family } from '@plat-dev/lib/metrics';
import { inNextTurn } from '@plat-dev/lib/next-turn';
import { type MaybePromise, orElse, whenReady } from '@plat-dev/lib/when-ready';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { ApiError, internalError } from '@plat-dev/meta/errors';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import { atEnd, type Context } from '../context.ts';
import type { Step } from '../pipeline.ts';
import type { Catalog } from '../registry/catalog.ts';
import { type AuditEvent, eventJson } from './event.ts';
import { type AuditPolicy, Level, levels, type Verdict } from './policy.ts';
import { AuditRecord } from './record.ts';
import type { AuditSink } from './sink.ts';

interface TrailMetrics {
  readonly events: Counter;
  /** By level. */
  readonly levels: Family<Counter>;
  readonly rejected: Counter;
}

export interface TrailOptions {
  readonly identity: Identity;
  readonly catalog: Catalog;
  readonly policy: AuditPolicy;
  readonly sinks: readonly AuditSink[];
  /** Its monotonic time is on the scale of `ctx.started`. */
  readonly clock: Clock;
  readonly metrics: TrailMetrics;
}

/** Maximum turns of the event loop that a trail waits for the end of requests when it is closed. */
export const MAX_CLOSING_TURNS = 1000;

export class Trail {
  readonly identity: Identity;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly apiVersion: string;
  private readonly options: TrailOptions;
  private readonly levelCounts: readonly Counter[];
  private readonly converting = new Set<Promise<boolean>>();
  /** Requests whose end is not recorded yet. */
  private open = 0;

  constructor(options: TrailOptions) {
    this.options = options;
    this.identity = options.identity;
    this.catalog = options.catalog;
    this.clock = options.clock;
    this.apiVersion = joinApiVersion(groupName(options.identity, 'audit'), 'v1');
    this.levelCounts = levels.map((level) => options.metrics.levels.with(level));
  }

  /** The authentication step with auditing: failures are recorded as well. */
  around(authenticate: Step): Step {
    return (ctx) => {
      const refuse = (error: unknown): never => {
        this.refused(ctx, error);
        throw error;
      };
      const authenticated = orElse(() => authenticate(ctx), refuse);
      return whenReady(authenticated, () => this.begin(ctx));
    };
  }

  private begin(ctx: Context): MaybePromise<void> {
    const verdict = this.decide(ctx);
    if (verdict.level === Level.None) return;
    const record = new AuditRecord(this, ctx, verdict);
    ctx.audit = record;
    this.whenDone(ctx, () => record.complete());
    return record.arrived()?.then((isStored) => {
      if (isStored) return;
      this.options.metrics.rejected.inc();
      throw internalError('failed to store audit event');
    });
  }

  private refused(ctx: Context, error: unknown): void {
    if (!(error instanceof ApiError) || error.code !== 401) return;
    const verdict = this.decide(ctx);
    if (verdict.level === Level.None) return;
    const record = new AuditRecord(this, ctx, verdict);
    this.whenDone(ctx, () => record.refused(`Authentication failed, attempted: ${attempted(ctx)}`));
  }

  private whenDone(ctx: Context, record: () => void): void {
    this.open++;
    const end = (): void => {
      this.open--;
      record();
    };
    // The client may have disconnected already, without a further event; the request is executed all the same.
    if (ctx.res.destroyed) inNextTurn(end);
    else atEnd(ctx, end);
  }

  private decide(ctx: Context): Verdict {
    const { info, user } = ctx;
    const verdict = this.options.policy.decide({
      user,
      verb: info.verb,
      resourceRequest: info.resourceRequest,
      path: info.path,
      group: info.group,
      resource: info.resource,
      subresource: info.subresource,
      namespace: info.namespace,
      name: info.name,
    });
    (this.levelCounts[verdict.level] as Counter).inc();
    return verdict;
  }

  /** Passes an event to every sink. The promise resolves to whether all blocking sinks have stored it. */
  put(event: AuditEvent): undefined | Promise<boolean> {
    this.options.metrics.events.inc();
    const writtenEvent = { event, json: eventJson(event) };
    let waiting: Promise<boolean>[] | undefined;
    for (const sink of this.options.sinks) {
      const pendingStore = sink.put(writtenEvent);
      if (pendingStore !== undefined) {
        waiting ??= [];
        waiting.push(pendingStore);
      }
    }
    return waiting === undefined ? undefined : Promise.all(waiting).then((all) => all.every((isStored) => isStored));
  }

  /** Tracks an event that is still being made. */
  pending(event: Promise<boolean>): Promise<boolean> {
    this.converting.add(event);
    void event.finally(() => this.converting.delete(event));
    return event;
  }

  /** Stores the remaining events. Called when the connections are closed: the last requests may end some turns later. */
  async close(): Promise<void> {
    for (let turns = 0; this.open > 0 && turns < MAX_CLOSING_TURNS; turns++) await new Promise<void>((resolve) => inNextTurn(resolve));
    await Promise.allSettled(this.converting);
    await Promise.all(this.options.sinks.map((sink) => sink.close()));
  }
}

/** Kinds of credentials of a request, without their values. */
function attempted(ctx: Context): string {
  const scheme = /^\s*(basic|bearer)\b/i.exec(ctx.header('authorization') ?? '')?.[1]?.toLowerCase();
  const socket = ctx.req.socket as { getPeerX509Certificate?: () => unknown } | null;
  const certificate = !ctx.http2 && socket?.getPeerX509Certificate?.() !== undefined ? 'x509' : undefined;
  return [scheme, certificate].filter((method) => method !== undefined).join(', ') || 'nothing';
}
