/** Reading and decoding request bodies. */
import { protobufMediaTypes } from '../identity.ts';
import type { ApiObject } from '../kinds/kind.ts';
import { badRequest, requestTooLarge, unsupportedMediaType } from '../meta/errors.ts';
import type { Resource } from '../registry/catalog.ts';
import { decodeEnvelope } from '../schema/envelope.ts';
import { DecodeError } from '../schema/errors.ts';
import { applyDefaults, decode } from '../schema/json.ts';
import { parseJson } from '../schema/parse.ts';
import { decodeProtobuf } from '../schema/protobuf.ts';
import type { JsonValue, MessageType } from '../schema/types.ts';
import type { Context } from './context.ts';
import type { Media } from './negotiate.ts';

/** Largest body of any request. */
export const BODY_LIMIT = 3 * 1024 * 1024;

export function readBody(ctx: Context, limit = BODY_LIMIT): Promise<Buffer> {
  const { req } = ctx;
  const tooLarge = () => requestTooLarge(`Request entity too large: limit is ${limit}`);
  if (Number(req.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined;
    let chunks: Buffer[] | undefined;
    let size = 0;
    req.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) {
        req.removeAllListeners('data');
        req.resume();
        reject(tooLarge());
      } else if (first === undefined) first = chunk;
      else if (chunks === undefined) chunks = [first, chunk];
      else chunks.push(chunk);
    });
    req.on('end', () => resolve(chunks === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(chunks, size)));
    req.on('error', reject);
    req.on('aborted', () => reject(badRequest('the client went away before the whole body had come')));
  });
}

export function bodyMedia(ctx: Context, protobuf: boolean, own: string): Media {
  const header = ctx.header('content-type') ?? '';
  const cut = header.indexOf(';');
  const name = (cut < 0 ? header : header.slice(0, cut)).trim().toLowerCase();
  if (cut >= 0 && !parameters.test(header.slice(cut))) throw unsupportedMediaType(accepted(protobuf, own));
  if (name === '' || name === 'application/json') return 'json';
  if (name === 'application/yaml') return 'yaml';
  if (protobuf && (name === own || protobufMediaTypes.includes(name))) return 'protobuf';
  throw unsupportedMediaType(accepted(protobuf, own));
}
const accepted = (protobuf: boolean, own: string): string[] => ['application/json', 'application/yaml', ...(protobuf ? [own] : [])];
/** Parameters of a media type: `; charset=utf-8`, and at most one semicolon too many. */
const parameters = /^(\s*;\s*[\w.+-]+\s*=\s*("[^"]*"|[^\s;]+))*\s*;?\s*$/;

export interface Expected {
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: MessageType;
  /** Other versions with the same fields, which are read as this one. */
  readonly older?: readonly string[] | undefined;
}

export interface FieldReport {
  /** Unknown and repeated fields, as texts. */
  readonly problems: string[];
}

/** The object of a request body in its normal form, not yet defaulted. `report` collects what field validation wants. */
export async function decodeBody(body: Buffer, media: Media, expected: Expected, report?: FieldReport): Promise<ApiObject> {
  if (media === 'protobuf') return decodeBinary(body, expected);
  const value = await parseBody(body, media, expected, report);
  return decodeValue(value, expected, report, body);
}

/** Any JSON or YAML text as a value. */
export async function parseBody(body: Buffer, media: Media, expected: Expected, report?: FieldReport): Promise<JsonValue> {
  try {
    if (media === 'yaml') {
      const { parseYaml } = await import('../schema/yaml.ts');
      return parseYaml(body);
    }
    return report === undefined
      ? parseJson(body, { merge: true })
      : parseJson(body, { merge: true, report: (problem) => report.problems.push(`duplicate field "${problem.path}"`) });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const what = media === 'yaml' ? error.message : `couldn't get version/kind; json parse error: ${error.message}`;
    throw badRequest(`the object provided is unrecognized (must be of type ${expected.kind}): ${what} (${beginning(body)})`);
  }
}

/** How much of a body that cannot be read is shown. */
const SHOWN = 30;
/** The beginning of a body: text where it looks like an object, else bytes. */
function beginning(body: Buffer): string {
  if (body.length === 0) return '<empty>';
  const start = body.subarray(0, SHOWN);
  return `${start.toString(start[0] === 0x7b ? 'utf8' : 'hex')}${body.length > SHOWN ? ' ...' : ''}`;
}

/** Checks kind and version of a parsed body and brings it into its normal form. */
export function decodeValue(value: JsonValue, expected: Expected, report?: FieldReport, body?: Buffer): ApiObject {
  if (value !== null && (typeof value !== 'object' || Array.isArray(value))) {
    const what = Array.isArray(value) ? 'array' : typeof value;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${expected.kind}): couldn't get version/kind; json parse error: json: cannot unmarshal ${what === 'boolean' ? 'bool' : what} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }${body === undefined ? '' : ` (${beginning(body)})`}`,
    );
  }
  const given = (value ?? {}) as { kind?: unknown; apiVersion?: unknown };
  const kind = typeof given.kind === 'string' && given.kind !== '' ? given.kind : expected.kind;
  const apiVersion = typeof given.apiVersion === 'string' && given.apiVersion !== '' ? given.apiVersion : expected.apiVersion;
  checkType(kind, apiVersion, expected);
  try {
    const object = decode(
      expected.schema,
      value ?? {},
      report === undefined ? undefined : { report: (problem) => report.problems.push(`unknown field "${problem.path}"`) },
    ) as ApiObject;
    object.kind = expected.kind;
    object.apiVersion = expected.apiVersion;
    object.metadata ??= {};
    return object;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(`${kind} in version "${versionPart(apiVersion)}" cannot be handled as a ${expected.kind}: ${error.message}`);
  }
}

const versionPart = (apiVersion: string): string => apiVersion.slice(apiVersion.indexOf('/') + 1);

/** Versions of groups that there are or were: an object in one of them is known, and not the one that is wanted. */
const knownVersion = /^(v1|(extensions|apps|batch|autoscaling|policy|[a-z]+(\.[a-z0-9]+)+)\/v\d+((alpha|beta)\d+)?)$/;

function checkType(kind: string, apiVersion: string, expected: Expected): void {
  if (kind === expected.kind && (apiVersion === expected.apiVersion || expected.older?.includes(apiVersion))) return;
  if (kind === expected.kind && knownVersion.test(apiVersion))
    throw badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${expected.apiVersion})`);
  const why =
    kind === expected.kind
      ? `no kind "${kind}" is registered for version "${apiVersion}"`
      : `the path holds objects of kind ${expected.kind} in version ${expected.apiVersion}, not ${kind} in version ${apiVersion}`;
  throw badRequest(`${kind} in version "${versionPart(apiVersion)}" cannot be handled as a ${expected.kind}: ${why}`);
}

function decodeBinary(body: Buffer, expected: Expected): ApiObject {
  try {
    const envelope = decodeEnvelope(body);
    checkType(
      envelope.kind === '' ? expected.kind : envelope.kind,
      envelope.apiVersion === '' ? expected.apiVersion : envelope.apiVersion,
      expected,
    );
    const object = decodeProtobuf(expected.schema, envelope.raw) as ApiObject;
    object.kind = expected.kind;
    object.apiVersion = expected.apiVersion;
    object.metadata ??= {};
    return object;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(`the object provided is unrecognized (must be of type ${expected.kind}): ${error.message}`);
  }
}

/** Static defaults of the schema, then those that depend on other fields. */
export function fillDefaults(
  resource: Resource,
  object: ApiObject,
  env: Parameters<NonNullable<Resource['definition']['defaults']>>[1],
): void {
  applyDefaults(resource.schema, object);
  resource.definition.defaults?.(object as never, env);
}
