/** One request on its way down the pipeline. Each step fills its own field. */

import { cut } from '@plat-dev/lib/message-values';
import { own } from '@plat-dev/lib/own';
import { SLICED_FROM, Slices } from '@plat-dev/lib/slices';
import type { Explanation } from './admission/explanation.ts';
import type { RequestAudit } from './audit/request-audit.ts';
import type { User } from './auth/types.ts';
import type { TimeLimit } from './connections/time-limits.ts';
import type { Incoming, Outgoing, Upgrade } from './exchange.ts';
import type { AwaitedBody } from './fairness/awaited-body.ts';
import type { Flow } from './fairness/flow.ts';
import { RequestSeats } from './fairness/request-seats.ts';
import { HeadNotes } from './request/request-headers.ts';
import type { RequestInfo } from './request/request-info.ts';
import { type Query, Route, type Routes } from './request/route.ts';
import { RequestTiming } from './request-timing.ts';

/** Texts of warnings that a request collects; see `respond.ts` for what of them an answer carries. */
export const MAX_WARNINGS = 64;
const MAX_WARNING = 4096;
/** Notes of a request for the audit trail, and characters of one: a patch by a webhook may be one. */
const MAX_ANNOTATIONS = 64;
const MAX_ANNOTATION = 64 * 1024;

export class Context {
  readonly req: Incoming;
  readonly res: Outgoing;

  // ---- what is asked -------------------------------------------------------------------------------------------------

  /** What the request line says. Requests share it. */
  readonly route: Route;
  readonly method: string;
  /** Decoded path. */
  readonly path: string;
  /** Text after the question mark. */
  readonly search: string;
  readonly http2: boolean;
  /** A part of this process asks, not a client. */
  inProcess = false;
  info!: RequestInfo;
  /** The client asks to switch protocols; a handler may take the connection over. */
  upgrade: Upgrade | undefined;
  private ownHead: HeadNotes | undefined;

  // ---- who asks ------------------------------------------------------------------------------------------------------

  user!: User;
  /** Who authenticated, where `user` is someone they act as. */
  impersonator: User | undefined;
  /** The right by which it does so, where that is for certain requests only. */
  impersonationConstraint: string | undefined;

  // ---- the body ------------------------------------------------------------------------------------------------------

  /** The body as it came, where it is JSON and holds an object. */
  sent: Buffer | undefined;
  /** The body is kept for the log, which shows its outline. */
  keepBody = false;
  keptBody: Buffer | undefined;
  /** Size of the body, once it has been read. */
  bodyBytes = 0;
  /** Size of what the body stands for, if that is more: aliases of YAML and copies of a patch repeat parts. */
  private expandedBytes = 0;
  private sliced: Slices | undefined;

  // ---- when it runs --------------------------------------------------------------------------------------------------

  /** By what the request is classed, where priority and fairness are on. */
  flow: Flow | undefined;
  /** Takes the seats of a request when its body has been read; undefined: it has them, or needs none. */
  body: AwaitedBody<Context> | undefined;
  readonly seating: RequestSeats<Context> = new RequestSeats<Context>(this);

  // ---- how long it runs ----------------------------------------------------------------------------------------------

  readonly started: number;
  /** Longest this request may take, where the client named a time. */
  timeoutMs: number | undefined;
  /** Ends the request when it takes too long. */
  timeLimit: TimeLimit | undefined;
  /** The request is exempt from in-flight limits and timeouts (watches, tunnels). */
  longRunning = false;
  /** Ends a request that goes on, as its protocol ends; absent: by breaking its connection off. */
  end: (() => void) | undefined;
  /** Called once when the answer is finished or the connection is gone. */
  onFinished: ((ctx: Context) => void)[] | undefined;
  /** The answer is finished or the connection is gone: nothing may be taken for this request any more. */
  finished = false;

  // ---- the answer ----------------------------------------------------------------------------------------------------

  /** Status that was sent, for metrics and audit. */
  status = 0;
  /** Bytes of the body that was sent, for metrics. */
  responseBytes = 0;
  /** Texts of Warning headers. */
  warnings: string[] | undefined;
  /** Headers that every answer to this request carries, names and values in turn. */
  headers: string[] = [];
  /** The answer is not compressed, whatever the client takes. */
  uncompressed = false;

  // ---- what is recorded ----------------------------------------------------------------------------------------------

  auditId = '';
  /** What is recorded of the request, where it is. */
  audit: RequestAudit | undefined;
  annotations: Map<string, string> | undefined;
  /** Collects the steps of admission, if the client requested them and may see them. */
  explanation: Explanation | undefined;
  readonly timing = new RequestTiming();
  /** The span of this request, if it is sampled. */
  traceparent: string | undefined;

  constructor(req: Incoming, res: Outgoing, now: number, routes?: Routes) {
    this.req = req;
    this.res = res;
    this.started = now;
    this.http2 = req.httpVersionMajor === 2;
    const method = req.method ?? 'GET';
    const url = req.url ?? '/';
    const route = routes === undefined ? new Route(method, url) : routes.of(method, url);
    this.route = route;
    this.method = method;
    this.path = route.path;
    this.search = route.search;
  }

  get query(): Query {
    return this.route.query;
  }
  /** The first value of a query parameter. */
  param(name: string): string | undefined {
    return this.search === '' ? undefined : this.route.param(name);
  }
  /** What the headers say. */
  get head(): HeadNotes {
    const { req } = this;
    const shared = req.fields;
    const sharedNotes = shared === undefined ? this.ownHead : shared.notes;
    if (sharedNotes !== undefined) return sharedNotes;
    const headNotes = new HeadNotes(req.headers);
    if (shared === undefined) this.ownHead = headNotes;
    else shared.notes = headNotes;
    return headNotes;
  }
  header(name: string): string | undefined {
    const value = own(this.req.headers, name);
    return Array.isArray(value) ? value[0] : value;
  }
  /** Whether nobody waits for the answer any more: the client disconnected, or got a timeout error. */
  get ended(): boolean {
    return this.res.destroyed || this.res.headersSent;
  }
  /** Whose turns long work for this request takes. */
  get owner(): object | undefined {
    return this.flow?.share;
  }
  /**
   * For work on so many bytes, or on the body where that is larger: slices that end with the request; undefined for what is
   * done in one turn of the loop.
   */
  slices(bytes = 0): Slices | undefined {
    if (bytes <= SLICED_FROM && this.bodyBytes <= SLICED_FROM && this.expandedBytes <= SLICED_FROM) return undefined;
    // Who closes their side has mostly gone; they get what is made at once, but no long work is done for them.
    this.sliced ??= new Slices(() => this.ended || this.res.isHalfClosed === true, undefined, this.owner);
    return this.sliced;
  }
  /** The body stands for so many bytes: from now on work on it is done in slices, if those are many. */
  expanded(bytes: number): void {
    this.expandedBytes = bytes;
  }
  warn(text: string): void {
    this.warnings ??= [];
    // Those beyond would be left out of the answer anyway.
    if (this.warnings.length < MAX_WARNINGS && !this.warnings.includes(text)) this.warnings.push(cut(text, MAX_WARNING));
  }
  /** A note for the audit trail. Of level `Request`: it repeats parts of the object, and is kept only where that is recorded. */
  annotate(key: string, value: string, level: 'Metadata' | 'Request' = 'Metadata'): void {
    if (level === 'Request' && this.audit?.showsObjects !== true) return;
    this.annotations ??= new Map();
    if (this.annotations.size < MAX_ANNOTATIONS && !this.annotations.has(key)) this.annotations.set(key, cut(value, MAX_ANNOTATION));
  }
}

/** Has something done when the answer is finished or the connection is gone. */
export function atEnd(ctx: Context, end: (ctx: Context) => void): void {
  const ends = ctx.onFinished;
  if (ends === undefined) ctx.onFinished = [end];
  // Most have two: a list that grows takes room for many more.
  else if (ends.length === 1) ctx.onFinished = [ends[0] as typeof end, end];
  else ends.push(end);
}

/**
 * Has something done when the client of HTTP/1.1 closes its side of the connection. It may have gone, or wait for the answer: it
 * gets one that is being made, but nothing waits for its turn, or goes on, for a client that may have gone.
 */
export function whenLeft({ res }: Context, leave: () => void): void {
  if (res.isHalfClosed === true) leave();
  else res.once('left', leave);
}
