/** The audit record of one request, from its arrival to the end of its response. */

import type { ApiObject } from '@plat-dev/kinds/kind';
import type { Clock } from '@plat-dev/lib/clock';
import { jsonText } from '@plat-dev/lib/json-text';
import { isPending } from '@plat-dev/lib/when-ready';
import type { Status } from '@plat-dev/meta/errors';
import type { Identity } from '@plat-dev/meta/identity';
import { groupName } from '@plat-dev/meta/identity';
import { parseIP } from '@plat-dev/meta/ip';
import { microTimeOf } from '@plat-dev/meta/time';
import { encode } from '@plat-dev/schema/json';
import { parseExact } from '@plat-dev/schema/json/parse';
import type { JsonValue, MessageType } from '@plat-dev/schema/types';
import type { Context } from '../context.ts';
import type { Catalog } from '../registry/catalog.ts';
import { type Media, mediaOf, objectText } from './body-text.ts';
import type { AuditEvent, ObjectRef, ResponseStatus } from './event.ts';
import { Level, levels, type Stage, type Verdict } from './policy.ts';
import { dropManagedFields, quotes, type Redaction, redact, redactionOf } from './redact.ts';
import type { RequestAudit } from './request-audit.ts';

/** Longer texts of the client are truncated. */
const USER_AGENT_LIMIT = 1024;
/** Objects above this size in bytes are omitted, and the event says so. */
const OBJECT_LIMIT = 4 * 1024 * 1024;
/** Maximum addresses of proxies that are recorded. */
const SOURCE_LIMIT = 16;

/** What a record needs of the audit trail. */
export interface RecordTrail {
  readonly identity: Identity;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly apiVersion: string;
  put(event: AuditEvent): undefined | Promise<boolean>;
  pending(event: Promise<boolean>): Promise<boolean>;
}

export class AuditRecord implements RequestAudit {
  private readonly trail: RecordTrail;
  private readonly ctx: Context;
  private readonly verdict: Verdict;
  private readonly sources: readonly string[];
  /** Milliseconds since 1970, with their fractions. */
  private readonly received: number;
  private readonly redaction: Redaction | undefined;
  private reference: ObjectRef | undefined;
  private status: ResponseStatus | undefined;
  private request: string | undefined;
  private response: { readonly media: Media; readonly bytes: Buffer } | undefined;
  private faulted = false;
  private isStarted = false;

  constructor(trail: RecordTrail, ctx: Context, verdict: Verdict) {
    this.trail = trail;
    this.ctx = ctx;
    this.verdict = verdict;
    this.sources = sourcesOf(ctx);
    this.received = trail.clock.now() - (trail.clock.monotonic() - ctx.started);
    this.redaction = redactionOf(ctx.info, groupName(trail.identity, 'authentication'));
    this.reference = referenceOf(ctx);
  }

  /** Records the stage RequestReceived. Returns a promise if the request must wait until that is stored. */
  arrived(): undefined | Promise<boolean> {
    return this.emit('RequestReceived');
  }

  /** The decoded object of a request. */
  requestObject(schema: MessageType, object: ApiObject): void {
    const { reference } = this;
    if (reference !== undefined) {
      const { name, namespace, uid, resourceVersion } = object.metadata ?? {};
      if (name) reference.name ??= name;
      if (namespace) reference.namespace ??= namespace;
      if (uid) reference.uid ??= uid;
      if (resourceVersion) reference.resourceVersion ??= resourceVersion;
    }
    if (this.verdict.level < Level.Request) return;
    this.request = this.redactedText(encode(schema, object as never));
  }

  /** The body of a patch or of delete options, as received. */
  requestBody(value: () => JsonValue): void {
    if (this.verdict.level < Level.Request) return;
    try {
      this.request = this.redactedText(jsonText(value()));
    } catch {
      // An unreadable body is refused, and the response says why.
    }
  }

  /** Whether annotations that repeat parts of the object may be kept. */
  get showsObjects(): boolean {
    return this.verdict.level >= Level.Request && this.redaction === undefined;
  }
  /** Response bodies are recorded at level RequestResponse only. */
  get wantsResponse(): boolean {
    return this.verdict.level >= Level.RequestResponse;
  }
  responseBody(type: string, bytes: Buffer): void {
    if (!this.wantsResponse || !this.ctx.info.resourceRequest) return;
    const media = mediaOf(type);
    if (media === undefined) return;
    if (bytes.length > OBJECT_LIMIT) this.truncated();
    else this.response = { media, bytes };
  }
  /** Some object is too large to be recorded. */
  truncated(): void {
    this.ctx.annotate(`${groupName(this.trail.identity, 'audit')}/truncated`, 'true');
  }

  responseStatus({ status, message, reason, details, code }: Status): void {
    const silent = this.redaction !== undefined && quotes(code);
    const { causes: _, ...detailsWithoutCauses } = details ?? {};
    const about = details === undefined ? undefined : silent ? detailsWithoutCauses : details;
    this.status = {
      metadata: {},
      ...(status !== undefined && { status }),
      ...(message !== undefined && !silent && { message }),
      ...(reason !== undefined && { reason }),
      ...(about !== undefined && { details: about }),
      ...(code !== undefined && { code }),
    };
  }

  decided(decision: 'allow' | 'forbid', reason: string): void {
    const group = groupName(this.trail.identity, 'authorization');
    this.ctx.annotate(`${group}/decision`, decision);
    this.ctx.annotate(`${group}/reason`, reason);
  }

  /** The head of a long-running response was sent (ResponseStarted). */
  started(): void {
    if (this.isStarted) return;
    this.isStarted = true;
    void this.emit('ResponseStarted');
  }
  /** The request failed by an error of this server (Panic). */
  fault(): void {
    this.faulted = true;
  }
  /** The request could not be authenticated: there is one event, after its response. */
  refused(message: string): void {
    const code = this.ctx.status;
    this.status = { metadata: {}, status: 'Failure', message, reason: 'Unauthorized', ...(code > 0 && { code }) };
    void this.emit('ResponseStarted');
  }
  complete(): void {
    void this.emit(this.faulted ? 'Panic' : 'ResponseComplete');
  }

  private emit(stage: Stage): undefined | Promise<boolean> {
    if (this.verdict.omitStages.has(stage)) return undefined;
    const final = stage === 'ResponseComplete' || stage === 'Panic';
    const { response } = this;
    if (!final || response === undefined) return this.trail.put(this.event(stage, undefined));
    const done = (object: string | undefined): undefined | Promise<boolean> => this.trail.put(this.event(stage, object));
    const textOf = (value: string | undefined): string | undefined => (value === undefined ? undefined : this.redactedText(value));
    // A response that cannot be decoded must not lose the event.
    try {
      const text = objectText(response.media, response.bytes, this.trail.catalog);
      if (!isPending(text)) return done(textOf(text));
      const object = text.then(textOf).catch(() => undefined);
      return this.trail.pending(object.then(done).then((isStored) => isStored ?? true));
    } catch {
      return done(undefined);
    }
  }

  private event(stage: Stage, responseObject: string | undefined): AuditEvent {
    const { ctx, trail } = this;
    const { impersonator } = ctx;
    const agent = ctx.header('user-agent') ?? '';
    return {
      apiVersion: trail.apiVersion,
      level: levels[this.verdict.level] as string,
      auditID: ctx.auditId,
      stage,
      requestURI: ctx.req.url ?? '',
      verb: ctx.info.verb,
      user: impersonator ?? ctx.user,
      impersonatedUser: impersonator === undefined ? undefined : ctx.user,
      impersonationConstraint: ctx.impersonationConstraint,
      sourceIPs: this.sources,
      userAgent: agent.length > USER_AGENT_LIMIT ? `${agent.slice(0, USER_AGENT_LIMIT)}...TRUNCATED` : agent,
      objectRef: this.reference,
      responseStatus: stage === 'RequestReceived' ? undefined : this.statusNow(),
      requestObject: stage === 'RequestReceived' ? undefined : this.request,
      responseObject,
      requestReceivedTimestamp: microTimeOf(this.received),
      stageTimestamp: microTimeOf(this.received + trail.clock.monotonic() - ctx.started),
      annotations: ctx.annotations,
    };
  }

  private statusNow(): ResponseStatus {
    const { status } = this.ctx;
    if (this.status !== undefined) return { ...this.status, ...(status > 0 && { code: this.status.code ?? status }) };
    if (status > 0) return { metadata: {}, code: status };
    return { metadata: {}, status: 'Failure', message: 'the connection was closed before an answer was sent' };
  }

  /** JSON on one line, redacted; undefined if it is too large. */
  private redactedText(text: string): string | undefined {
    if (text.length > OBJECT_LIMIT) {
      this.truncated();
      return undefined;
    }
    const { omitManagedFields } = this.verdict;
    if (this.redaction === undefined && !omitManagedFields && !text.includes('\n')) return text;
    const value = parseExact(text) as JsonValue;
    if (this.redaction !== undefined) redact(value, this.redaction);
    if (omitManagedFields) dropManagedFields(value);
    return jsonText(value);
  }
}

function referenceOf({ info }: Context): ObjectRef | undefined {
  if (!info.resourceRequest) return undefined;
  return {
    resource: info.resource,
    ...(info.namespace !== '' && { namespace: info.namespace }),
    ...(info.name !== '' && { name: info.name }),
    ...(info.group !== '' && { apiGroup: info.group }),
    apiVersion: info.version,
    ...(info.subresource !== '' && { subresource: info.subresource }),
  };
}

/** Addresses that proxies in front claim, then the peer address of the connection, which is certain. */
function sourcesOf(ctx: Context): string[] {
  const sources: string[] = [];
  const add = (text: string): void => {
    if (sources.length < SOURCE_LIMIT && parseIP(text) !== undefined) sources.push(text);
  };
  const forwarded = ctx.header('x-forwarded-for');
  if (forwarded !== undefined) for (const part of forwarded.split(',')) add(part.trim());
  const real = ctx.header('x-real-ip');
  if (real !== undefined && !sources.includes(real.trim())) add(real.trim());
  const remote = ctx.req.socket?.remoteAddress;
  const address = remote?.startsWith('::ffff:') ? remote.slice(7) : remote;
  if (address !== undefined && sources.at(-1) !== address) sources.push(address);
  return sources;
}
