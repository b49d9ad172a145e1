/** Reading and decoding request bodies. */

import { isUtf8 } from 'node:buffer';
import type { ApiObject } from '@plat-dev/kinds/kind';
import { ObjectMeta } from '@plat-dev/kinds/meta';
import { cut, SHOWN_VALUE } from '@plat-dev/lib/message-values';
import { atOnce, inSlices, type Slices } from '@plat-dev/lib/slices';
import {
  type ApiError,
  badRequest,
  requestTooLarge,
  tooManyRequests,
  unsupportedContent,
  unsupportedMediaType,
} from '@plat-dev/meta/errors';
import { isProtobufMediaType, protobufMediaTypes } from '@plat-dev/meta/identity';
import { DecodeError, TooLargeError } from '@plat-dev/schema/errors';
import type { FieldFaults } from '@plat-dev/schema/fields/field-faults';
import { FieldPlace, RepeatedKeys, unknownFieldsOf } from '@plat-dev/schema/fields/field-place';
import { applyDefaults, decode, decodedValue } from '@plat-dev/schema/json';
import { holdsFloats, type ParseOptions, parsedJson, parseJson } from '@plat-dev/schema/json/parse';
import { decodedProtobuf, decodeProtobuf } from '@plat-dev/schema/protobuf';
import { decodedEnvelope, decodeEnvelope, type Envelope } from '@plat-dev/schema/protobuf/envelope';
import type { JsonValue } from '@plat-dev/schema/types';
import type { Context } from '../context.ts';
import { wholeBody } from '../in-process.ts';
import type { Resource } from '../registry/catalog.ts';
import { checkWidth } from '../registry/entries.ts';
import { type BodyType, type Expected, unfit } from './expected-body.ts';
import type { Media } from './negotiate.ts';

/** Largest body of any request. */
const BODY_LIMIT = 3 * 1024 * 1024;

/** The whole body. With priority and fairness the request then has its seats; rejects where there are none. */
export async function readBody(ctx: Context, limit = BODY_LIMIT): Promise<Buffer> {
  const whole = wholeBody(ctx.req);
  const body = whole === undefined ? await receiveBody(ctx, limit) : takeWhole(ctx, whole, limit);
  if (ctx.body !== undefined) await ctx.body.whole(ctx);
  return body;
}
function receiveBody(ctx: Context, limit: number): Promise<Buffer> {
  const { req, body: awaited } = ctx;
  if (Number(req.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLarge(limit));
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined;
    let chunks: Buffer[] | undefined;
    let size = 0;
    const fail = (error: unknown): void => {
      req.removeAllListeners('data');
      req.resume();
      first = chunks = undefined;
      reject(error);
    };
    awaited?.reading(fail);
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) fail(tooLarge(limit));
      else if (awaited?.received(chunk.length) === false) fail(tooManyBodies());
      else if (first === undefined) first = chunk;
      else if (chunks === undefined) chunks = [first, chunk];
      else chunks.push(chunk);
    });
    req.on('end', () => {
      ctx.bodyBytes = size;
      const whole = chunks === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(chunks, size);
      if (ctx.keepBody) ctx.keptBody = whole;
      resolve(whole);
    });
    req.on('error', reject);
    req.on('aborted', () => reject(badRequest('the client went away before the whole body had come')));
  });
}
/** The same for a body that is here already. */
function takeWhole(ctx: Context, whole: Buffer, limit: number): Buffer {
  const { body: awaited } = ctx;
  if (whole.length > limit) throw tooLarge(limit);
  ctx.bodyBytes = whole.length;
  if (ctx.keepBody) ctx.keptBody = whole;
  awaited?.reading(nothing);
  if (awaited?.received(whole.length) === false) throw tooManyBodies();
  return whole;
}
const nothing = (): void => {};
const tooManyBodies = (): ApiError => tooManyRequests('Too many request bodies are waiting, please try again later.', 1);
const tooLarge = (limit: number): ApiError => requestTooLarge(`Request entity too large: limit is ${limit}`);

export function bodyMedia(ctx: Context, protobuf: boolean, binaryType: string): Media {
  const header = ctx.header('content-type') ?? '';
  // As most clients say it.
  if (header === 'application/json') return 'json';
  const at = header.indexOf(';');
  const name = (at < 0 ? header : header.slice(0, at)).trim().toLowerCase();
  if (at >= 0 && !areParameters(header, at)) throw unsupportedMediaType(accepted(protobuf, binaryType));
  if (name === '' || name === 'application/json') return 'json';
  if (name === 'application/yaml') return 'yaml';
  if (protobuf && (name === binaryType || protobufMediaTypes.includes(name))) return 'protobuf';
  throw unsupportedMediaType(accepted(protobuf, binaryType));
}
const accepted = (protobuf: boolean, binaryType: string): string[] => [
  'application/json',
  'application/yaml',
  ...(protobuf ? [binaryType] : []),
];
/** Parameters of a media type: `; charset=utf-8`, and at most one semicolon too many. Read once, from left to right. */
function areParameters(header: string, from: number): boolean {
  let at = from;
  for (;;) {
    at = match(blanks, header, at);
    if (at === header.length) return true;
    if (header[at] !== ';') return false;
    at = match(blanks, header, at + 1);
    if (at === header.length) return true;
    const name = match(word, header, at);
    const equals = match(blanks, header, name);
    if (name === at || header[equals] !== '=') return false;
    const value = match(blanks, header, equals + 1);
    at = match(header[value] === '"' ? quoted : bare, header, value);
    if (at === value) return false;
  }
}
const blanks = /\s*/y;
const word = /[\w.+-]*/y;
const quoted = /"[^"]*"/y;
const bare = /[^\s;]*/y;
/** The end of what a pattern matches from a place on; the place itself where it does not. */
function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** Whose body it is: it gives slices for so many bytes, or for the body, and notes what the body stands for. */
export type BodyOwner = Pick<Context, 'slices' | 'expanded'>;

export interface DecodeOptions {
  /** Collects what field validation wants. */
  readonly faults?: FieldFaults | undefined;
  /** Looks at a large body before it is read by its type, or after that in the binary form. Without it, its width is checked. */
  readonly inspect?: ((value: unknown) => Promise<void>) | undefined;
}

/** The object of a request body in its normal form, not yet defaulted. */
export async function decodeBody(
  owner: BodyOwner,
  body: Buffer,
  media: Media,
  expected: Expected,
  options: DecodeOptions = {},
): Promise<ApiObject> {
  if (media === 'protobuf') return decodeBinary(owner, body, expected, options);
  return decodeParsedBody(owner, await parseBody(owner, body, media, expected, options.faults), body, media, expected, options);
}

async function decodeParsedBody(
  owner: BodyOwner,
  value: JsonValue,
  body: Buffer,
  media: 'json' | 'yaml',
  expected: Expected,
  { faults, inspect }: DecodeOptions,
): Promise<ApiObject> {
  const slices = owner.slices();
  if (slices !== undefined) {
    await slices.pause();
    if (inspect === undefined) checkWidth(value);
    else await inspect(value);
    await slices.pause();
  }
  if (media === 'json' && !expected.custom && holdsFloats(value)) await checkFloats(value, body, expected, slices);
  if (faults !== undefined) await findUnknown(value, media, expected, faults, slices);
  const type = typeIn(value, expected, body);
  if (!isExpected(type, expected)) return refuse(type, expected, nameIn(value));
  if (slices === undefined) return decodeValue(value, type, expected);
  try {
    return typed((await inSlices(decodedValue(expected.schema, value ?? {}), slices)) as ApiObject, expected);
  } catch (error) {
    throw faultOf(error, value, type, expected);
  }
}

/** Unknown fields of a parsed body; those of YAML in the order of its keys, as if it had been turned into JSON first. */
async function findUnknown(
  value: JsonValue,
  media: 'json' | 'yaml',
  expected: Expected,
  faults: FieldFaults,
  slices: Slices | undefined,
): Promise<void> {
  const work = unknownFieldsOf(expected, value, faults, media === 'yaml');
  if (slices === undefined) atOnce(work);
  else await inSlices(work, slices);
}

/** Refuses integer fields whose number is a float by its spelling, of a body that is what the path holds. */
async function checkFloats(value: JsonValue, body: Buffer, expected: Expected, slices: Slices | undefined): Promise<void> {
  const type = typeIn(value, expected, body);
  if (!isExpected(type, expected)) return;
  const { checkIntegerFields } = await import('@plat-dev/schema/json/spelled-integers');
  try {
    const work = checkIntegerFields(expected.schema, body.toString('utf8'));
    if (slices === undefined) atOnce(work);
    else await inSlices(work, slices);
  } catch (error) {
    throw error instanceof DecodeError ? unfit(type, error.message, expected) : error;
  }
}

/** Refuses a body of text that is not UTF-8. */
export async function refuseBytes(body: Buffer, media: 'json' | 'yaml', slices: Slices | undefined): Promise<never> {
  const { refuseNotUtf8 } = await import('./not-utf8.ts');
  throw await refuseNotUtf8(body, media, slices);
}

/** Any JSON or YAML text as a value. */
async function parseBody(
  owner: BodyOwner,
  body: Buffer,
  media: 'json' | 'yaml',
  expected: Expected,
  faults: FieldFaults | undefined,
): Promise<JsonValue> {
  const slices = owner.slices();
  if (!isUtf8(body)) await refuseBytes(body, media, slices);
  try {
    if (media === 'yaml') return await parseYamlBody(owner, body, faults);
    const options = jsonOptions(expected, faults);
    return slices === undefined ? parseJson(body, options) : await inSlices(parsedJson(body, options), slices);
  } catch (error) {
    throw unparsed(error, media, expected, body);
  }
}

/** The only document of a YAML body. Throws DecodeError and RequestEnded. */
export async function parseYamlBody(owner: BodyOwner, body: Buffer, faults: FieldFaults | undefined): Promise<JsonValue> {
  const { parsedYaml } = await import('@plat-dev/schema/yaml');
  const repeated = faults === undefined ? undefined : new RepeatedKeys(faults);
  const work = parsedYaml(body, { single: true, repeated, expanded: (characters) => owner.expanded(characters) });
  // A small body may stand for a large one.
  const slices = owner.slices(BODY_LIMIT);
  return slices === undefined ? atOnce(work) : inSlices(work, slices);
}

function jsonOptions({ schema, custom }: Expected, faults: FieldFaults | undefined): ParseOptions {
  if (faults !== undefined) return { merge: custom !== true, place: FieldPlace.root(faults, schema) };
  return custom ? lastCounts : mergingOptions;
}

/** The error for the client about text that cannot be parsed. */
function unparsed(error: unknown, media: 'json' | 'yaml', expected: Expected, body: Buffer): unknown {
  if (error instanceof TooLargeError) return requestTooLarge(`Request entity too large: ${error.message}`);
  if (!(error instanceof DecodeError)) return error;
  const reason = media === 'yaml' ? error.message : `couldn't get version/kind; json parse error: ${error.message}`;
  return unrecognized(reason, expected, body);
}

const mergingOptions: ParseOptions = { merge: true };
const lastCounts: ParseOptions = {};

/** Refuses a body without kind and apiVersion. */
function unrecognized(why: string, expected: Expected, body: Buffer): ApiError {
  return badRequest(`the object provided is unrecognized (must be of type ${expected.kind}): ${why} (${beginning(body)})`);
}

/** How much of a body that cannot be read is shown. */
const SHOWN = 30;
/** The beginning of a body: text where it looks like an object, else bytes. */
function beginning(body: Buffer): string {
  if (body.length === 0) return '<empty>';
  const start = body.subarray(0, SHOWN);
  return `${start.toString(start[0] === 0x7b ? 'utf8' : 'hex')}${body.length > SHOWN ? ' ...' : ''}`;
}

/** Kind and version of a parsed body; what it leaves out is as the path has it. */
function typeIn(value: JsonValue, expected: Expected, body: Buffer): BodyType {
  if (value !== null && (typeof value !== 'object' || Array.isArray(value))) {
    const actualShape = Array.isArray(value) ? 'an array' : `a ${typeof value}`;
    const why = `couldn't get version/kind; json parse error: the body must be an object, not ${actualShape}`;
    throw unrecognized(why, expected, body);
  }
  const { kind, apiVersion } = (value ?? {}) as { kind?: unknown; apiVersion?: unknown };
  if (expected.custom) {
    // Nothing but the body says what a custom object is.
    if (typeof kind !== 'string' || kind === '')
      throw unfit(expected, `Object 'Kind' is missing in '${cut(body.toString('utf8', 0, 2 * SHOWN_VALUE))}'`, expected);
    return { kind, apiVersion: typeof apiVersion === 'string' ? apiVersion : '' };
  }
  return {
    kind: typeof kind === 'string' && kind !== '' ? kind : expected.kind,
    apiVersion: typeof apiVersion === 'string' && apiVersion !== '' ? apiVersion : expected.apiVersion,
  };
}

/** Brings a parsed body of the right type into its normal form. */
function decodeValue(value: JsonValue, type: BodyType, expected: Expected): ApiObject {
  try {
    return typed(decode(expected.schema, value ?? {}) as ApiObject, expected);
  } catch (error) {
    throw faultOf(error, value, type, expected);
  }
}
function typed(object: ApiObject, expected: Expected): ApiObject {
  object.kind = expected.kind;
  object.apiVersion = expected.apiVersion;
  object.metadata ??= {};
  return object;
}
const faultOf = (error: unknown, value: JsonValue, type: BodyType, expected: Expected): unknown =>
  error instanceof DecodeError ? unfit(type, expected.custom ? metadataFault(value, error) : error.message, expected) : error;
/** Only the metadata of custom objects is decoded by a type, and its errors are reported apart. */
function metadataFault(value: JsonValue, whole: DecodeError): string {
  try {
    decode(ObjectMeta, (value as { metadata?: JsonValue } | null)?.metadata ?? {});
    return whole.message;
  } catch (error) {
    if (error instanceof DecodeError) return error.message;
    throw error;
  }
}

const isExpected = ({ kind, apiVersion }: BodyType, expected: Expected): boolean =>
  kind === expected.kind &&
  (apiVersion === expected.apiVersion || expected.anyVersion === true || (expected.older?.includes(apiVersion) ?? false));

async function refuse(type: BodyType, expected: Expected, name = ''): Promise<never> {
  const { wrongType } = await import('./wrong-type.ts');
  throw wrongType(type, expected, name);
}
function nameIn(value: JsonValue): string {
  const { metadata } = (value ?? {}) as { metadata?: { name?: unknown } | null };
  return typeof metadata?.name === 'string' ? metadata.name : '';
}

async function decodeBinary(owner: BodyOwner, body: Buffer, expected: Expected, options: DecodeOptions): Promise<ApiObject> {
  const slices = owner.slices();
  let type: BodyType | undefined;
  try {
    const envelope = slices === undefined ? decodeEnvelope(body) : await inSlices(decodedEnvelope(body), slices);
    type = {
      kind: envelope.kind === '' ? expected.kind : envelope.kind,
      apiVersion: envelope.apiVersion === '' ? expected.apiVersion : envelope.apiVersion,
    };
    const media = mediaInside(envelope);
    if (expected.custom && media === 'protobuf') throw unfit(type, 'custom objects have no binary form', expected);
    if (!isExpected(type, expected)) return await refuse(type, expected);
    if (media !== 'protobuf') {
      const value = withType(await parseBody(owner, envelope.raw, media, expected, options.faults), type);
      return await decodeParsedBody(owner, value, envelope.raw, media, expected, options);
    }
    const { schema } = expected;
    if (slices === undefined) return typed(decodeProtobuf(schema, envelope.raw) as ApiObject, expected);
    const object = await inSlices(decodedProtobuf(schema, envelope.raw), slices);
    if (options.inspect === undefined) checkWidth(object);
    else await options.inspect(object);
    await slices.pause();
    return typed(object as ApiObject, expected);
  } catch (error) {
    if (error instanceof TooLargeError) throw requestTooLarge(`Request entity too large: ${error.message}`);
    if (!(error instanceof DecodeError)) throw error;
    throw type === undefined ? unrecognized(error.message, expected, body) : unfit(type, error.message, expected);
  }
}

/** What the bytes in an envelope are. */
function mediaInside({ contentEncoding, contentType }: Envelope): Media {
  if (contentEncoding !== '' && contentEncoding !== 'identity')
    throw unsupportedContent(`contentEncoding ${JSON.stringify(cut(contentEncoding))}`, ['identity']);
  if (contentType === '' || isProtobufMediaType(contentType)) return 'protobuf';
  if (contentType === 'application/json') return 'json';
  if (contentType === 'application/yaml') return 'yaml';
  throw unsupportedContent(`contentType ${JSON.stringify(cut(contentType))}`, ['application/json', 'application/yaml', 'protobuf']);
}
/** An object in an envelope may leave it to the envelope to say what it is. */
function withType(value: JsonValue, { kind, apiVersion }: BodyType): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  value.kind ??= kind;
  value.apiVersion ??= apiVersion;
  return value;
}

/** Static defaults of the schema, then those that depend on other fields. */
export function fillDefaults(
  resource: Resource,
  object: ApiObject,
  env: Parameters<NonNullable<Resource['definition']['defaults']>>[1],
  origin?: 'applied',
): void {
  if (!resource.custom) applyDefaults(resource.schema, object);
  try {
    resource.definition.defaults?.(object as never, env, origin);
  } catch (error) {
    // Objects inside of custom objects are read here.
    if (!(error instanceof DecodeError)) throw error;
    const type = { kind: resource.kind.kind, apiVersion: resource.apiVersion };
    throw unfit(type, error.message, type);
  }
}
