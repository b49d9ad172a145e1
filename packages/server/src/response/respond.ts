/** Writing answers: headers, bodies, compression, errors. */

import type { Http2ServerResponse } from 'node:http2';
import { gzip } from 'node:zlib';
import { Status } from '@plat-dev/kinds/meta-kinds';
import { own, setOwn } from '@plat-dev/lib/own';
import { RequestEnded } from '@plat-dev/lib/slices';
import { ApiError, requestTooLarge, type Status as StatusBody, storeFull, storeUnavailable } from '@plat-dev/meta/errors';
import { encodeProtobuf } from '@plat-dev/schema/protobuf';
import { encodeEnvelope } from '@plat-dev/schema/protobuf/envelope';
import { StoreFull, StoreUnavailable, WriteTooLarge } from '@plat-dev/storage/engine';
import type { Context } from '../context.ts';
import { type ErrorForm, errorForm, wantsPretty } from '../request/negotiate.ts';
import { EXPLAIN_HEADER } from '../steps/explain.ts';
import { endWith } from './response-pieces.ts';
import { sendShort } from './short-answer.ts';

/** Answers of at least this size are compressed for clients that can read them. */
const GZIP_FROM = 128 * 1024;
const GZIP_LEVEL = 1;

/** Sends the head of an answer. Names and values in turn. */
export function head(ctx: Context, requestedStatus: number, headers: readonly string[]): void {
  const status = sendable(ctx, requestedStatus);
  ctx.status = status;
  if (ctx.audit !== undefined && ctx.longRunning) ctx.audit.started();
  const all = ctx.headers.concat(headers);
  if (ctx.warnings !== undefined) addWarnings(all, ctx.warnings);
  if (ctx.explanation !== undefined) all.push(EXPLAIN_HEADER, ctx.explanation.header());
  if (!ctx.http2) {
    (ctx.res as unknown as { writeHead(status: number, headers: readonly string[]): void }).writeHead(status, all);
    return;
  }
  const record: Record<string, string | string[]> = {};
  for (let i = 0; i < all.length; i += 2) {
    const name = (all[i] as string).toLowerCase();
    const value = all[i + 1] as string;
    const earlierValue = own(record, name);
    // Node refuses to send some headers twice.
    if (earlierValue === value) continue;
    setOwn(
      record,
      name,
      earlierValue === undefined ? value : Array.isArray(earlierValue) ? [...earlierValue, value] : [earlierValue, value],
    );
  }
  (ctx.res as unknown as Http2ServerResponse).writeHead(status, record);
}

/** Codes come from webhooks and other servers, too: one that cannot be sent would leave the client without any answer. */
function sendable({ http2 }: Context, status: number): number {
  return status >= 200 && status <= (http2 ? 599 : 999) ? status : 500;
}

/** Warnings that are longer than this together are cut, each to the second length, and those beyond are left out. */
const WARNINGS_TOTAL = 4096;
const WARNING_LENGTH = 256;

/** Warnings come from outside, too: they must neither break the head of an answer nor make it too large. */
function bounded(texts: readonly string[]): readonly string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get into a header.
  const clean = texts.filter((text) => text !== '' && !/[\x00-\x1f\x7f-\x9f]/.test(text));
  if (clean.reduce((sum, text) => sum + text.length, 0) <= WARNINGS_TOTAL) return clean;
  const boundedTexts: string[] = [];
  let totalLength = 0;
  for (const text of clean) {
    if (totalLength >= WARNINGS_TOTAL) break;
    const cut = text.length > WARNING_LENGTH ? [...text].slice(0, WARNING_LENGTH).join('') : text;
    totalLength += cut.length;
    boundedTexts.push(cut);
  }
  return boundedTexts;
}

/** Bytes of all Warning headers with their names: half of what the strictest of common clients take for a whole head. */
const WARNINGS_BYTES = 8 * 1024;
const WARNING_HEAD = 'Warning: \r\n'.length;

function addWarnings(headers: string[], texts: readonly string[]): void {
  let room = WARNINGS_BYTES;
  for (const text of bounded(texts)) {
    const value = warningValue(text);
    room -= value.length + WARNING_HEAD;
    if (room < 0) return;
    headers.push('Warning', value);
  }
}

/** RFC 7234 section 5.5: code 299, no agent, quoted text. Clients read UTF-8, and headers are written byte by byte. */
const warningValue = (text: string): string => `299 - "${Buffer.from(text.replace(/[\\"]/g, '\\$&')).toString('latin1')}"`;

/** Sends a whole answer. */
export function send(ctx: Context, status: number, type: string, body: Buffer | string, headers: readonly string[] = []): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (ctx.audit !== undefined) ctx.audit.responseBody(type, bytes);
  if (bytes.length >= GZIP_FROM && wantsGzip(ctx)) {
    gzip(bytes, { level: GZIP_LEVEL }, (error, packed) => {
      if (error !== null) write(ctx, status, type, bytes, headers);
      else write(ctx, status, type, packed, [...headers, 'Content-Encoding', 'gzip', 'Vary', 'Accept-Encoding']);
    });
    return;
  }
  write(ctx, status, type, bytes, headers);
}

/** Sends compact JSON, which ends with a line end that the text does not have. */
export function sendLine(ctx: Context, status: number, type: string, text: Buffer): void {
  const line = Buffer.allocUnsafe(text.length + 1);
  line.set(text);
  line[text.length] = 0x0a;
  send(ctx, status, type, line);
}

function write(ctx: Context, status: number, type: string, bytes: Buffer, headers: readonly string[]): void {
  if (ctx.res.destroyed || ctx.res.writableEnded) return;
  ctx.responseBytes = bytes.length;
  if (headers.length === 0 && type === 'application/json' && ctx.warnings === undefined && ctx.explanation === undefined) {
    if (sendShort(ctx, status, bytes)) return;
  }
  head(ctx, status, ['Content-Type', type, 'Content-Length', String(bytes.length), ...headers]);
  if (ctx.method === 'HEAD') ctx.res.end();
  else endWith(ctx, bytes);
}

/** Whether an answer of the API is compressed, if it is large enough. */
export const wantsGzip = (ctx: Context): boolean => !ctx.uncompressed && acceptsGzip(ctx);

export function acceptsGzip(ctx: Context): boolean {
  const accepted = ctx.req.headers['accept-encoding'];
  return typeof accepted === 'string' && /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(accepted);
}

export function sendText(ctx: Context, status: number, text: string, headers: readonly string[] = []): void {
  send(ctx, status, 'text/plain; charset=utf-8', text, ['X-Content-Type-Options', 'nosniff', ...headers]);
}

/** The response for an unknown path. */
export const pageNotFound = (ctx: Context): void => sendText(ctx, 404, '404 page not found\n');

export const prettyWanted = (ctx: Context): boolean => wantsPretty(ctx.param('pretty'), ctx.head.isReader);

/** A Status in the given form; that of errors where none is given. */
export async function sendStatus(
  ctx: Context,
  code: number,
  status: StatusBody,
  headers: readonly string[] = [],
  form: ErrorForm = errorForm(ctx.header('accept')),
): Promise<void> {
  const { media, type } = form;
  if (ctx.audit !== undefined) ctx.audit.responseStatus(status);
  if (media === 'yaml') {
    const { stringifyYaml } = await import('@plat-dev/schema/yaml');
    send(ctx, code, type, stringifyYaml(status as never), headers);
  } else if (media === 'protobuf') {
    const raw = encodeProtobuf(Status, status as never);
    send(ctx, code, type, encodeEnvelope({ apiVersion: 'v1', kind: 'Status', raw }), headers);
  } else {
    const pretty = form.pretty || prettyWanted(ctx);
    send(ctx, code, type, pretty ? JSON.stringify(status, undefined, 2) : `${JSON.stringify(status)}\n`, headers);
  }
}

/**
 * Answers with an error of the client without throwing it, which takes longer than all the rest: for what clients often request in
 * order to learn whether it exists. Throws where the answer has another form than compact JSON.
 */
export function refuse(ctx: Context, error: ApiError): void {
  const form = errorForm(ctx.head.accept);
  if (form.media !== 'json' || form.pretty || error.code >= 500 || error.headers !== undefined || ctx.explanation !== undefined)
    throw error;
  const status = error.status();
  if (ctx.audit !== undefined) ctx.audit.responseStatus(status);
  send(ctx, error.code, form.type, prettyWanted(ctx) ? JSON.stringify(status, undefined, 2) : `${JSON.stringify(status)}\n`);
}

/** Renders whatever was thrown. Anything but an ApiError is a fault of ours: logged, and sent without its details. */
export function sendError(ctx: Context, error: unknown, report: (error: unknown) => void): void {
  if (error instanceof RequestEnded) {
    // It has its answer, or there is nobody to take one: a connection of which one side is closed has no other end.
    if (ctx.res.isHalfClosed === true && !ctx.res.headersSent) ctx.res.destroy();
    return;
  }
  if (ctx.res.headersSent) {
    // Too late for a status: the client must not take what it got for the whole.
    ctx.res.destroy(error instanceof Error ? error : undefined);
    return;
  }
  if (ctx.res.destroyed) return;
  const fault = error instanceof ApiError ? error : (storeFault(error) ?? unexpected());
  // A full disk is logged by its store.
  const isLogged = error instanceof StoreFull && !error.inDoubt;
  if (fault.code >= 500 && fault !== error && !isLogged) {
    if (fault.code === 500) ctx.audit?.fault();
    report(error);
  }
  const headers: string[] = [];
  for (const [name, value] of Object.entries(fault.headers ?? {})) headers.push(name, value);
  const seconds = fault.details?.retryAfterSeconds;
  if (seconds !== undefined) headers.push('Retry-After', String(seconds));
  sendStatus(ctx, fault.code, explained(ctx, fault.status()), headers).catch((why: unknown) => {
    report(why);
    // An answer that cannot be sent must not keep the client waiting.
    ctx.res.destroy();
  });
}

const unexpected = (): ApiError => new ApiError(500, 'InternalError', 'Internal error occurred: the request could not be finished');
/** What a client is sent for an error of the store; undefined for other errors. */
function storeFault(error: unknown): ApiError | undefined {
  if (!(error instanceof StoreUnavailable)) return undefined;
  if (error instanceof StoreFull) return storeFull(error.message, error.inDoubt);
  return error instanceof WriteTooLarge ? requestTooLarge(error.message) : storeUnavailable(error.inDoubt);
}

/** The details of an error also contain the earlier admission steps, if the client requested them. */
function explained({ explanation }: Context, status: StatusBody): StatusBody {
  if (explanation === undefined || explanation.steps.length === 0) return status;
  return { ...status, details: { ...status.details, causes: [...(status.details?.causes ?? []), ...explanation.causes()] } };
}
