/** `/openapi/v2` and `/openapi/v3`: the API described, for tools that explain, check and generate. */

import { setOwn } from '@plat-dev/lib/own';
import { isAtLeast } from '@plat-dev/lib/version';
import type { Context } from '../../context.ts';
import type { RemoteSpec } from '../../extension/aggregation/specs.ts';
import { servesHistory } from '../../history/access.ts';
import { parseAccept } from '../../request/negotiate.ts';
import { sentBefore } from '../../response/entity-tag.ts';
import { acceptsGzip, head } from '../../response/respond.ts';
import { endWith } from '../../response/response-pieces.ts';
import type { Services } from '../../services.ts';
import type { Endpoint } from '../endpoint.ts';
import type { Groups } from '../groups.ts';
import { Documents, Form } from './documents.ts';

export interface OpenApiOptions {
  /** Version in the documents. */
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** What servers behind this one say of themselves; the same list until that changes. */
  readonly remote?: () => readonly RemoteSpec[];
}

/** Answers of at least this size are compressed for clients that can read them. */
const GZIP_FROM = 16 * 1024;
const YEAR_MS = 365 * 24 * 3600 * 1000;
const TEXT = 'text/plain; charset=utf-8';
/** Before 1.27 servers let the type be guessed from the content. */
const guessedTypes = { json: TEXT, binary: 'application/octet-stream' };
const typesOf = (version: 'v2' | 'v3'): typeof guessedTypes => ({
  json: 'application/json',
  binary: `application/com.github.proto-openapi.spec.${version}.v1.0+protobuf`,
});

export function openapiEndpoints(services: Services, groups: () => Groups, options: OpenApiOptions): Map<string, Endpoint> {
  let openDocuments: Documents | undefined;
  const documents = async (): Promise<Documents> => {
    if (openDocuments !== undefined) return openDocuments;
    // Descriptions are large and of use here only, so that the first request for a document loads them.
    const { descriptionOf } = await import('@plat-dev/kinds/descriptions');
    openDocuments ??= new Documents(
      {
        identity: services.identity,
        version: options.version,
        enums: services.registry.env.feature('OpenAPIEnums'),
        validatesFields: services.registry.env.feature('ServerSideFieldValidation'),
        history: servesHistory(services.registry.catalog),
        describe: descriptionOf,
        release: services.registry.catalog.release,
      },
      groups,
      options.remote,
    );
    return openDocuments;
  };
  const hasTypes = isAtLeast(services.registry.catalog.release, '1.27');
  const types = { v2: hasTypes ? typesOf('v2') : guessedTypes, v3: hasTypes ? typesOf('v3') : guessedTypes };
  const modified = new Date(options.now()).toUTCString();
  const v2: Endpoint = async (ctx) => {
    const media = mediaOf(ctx, 'v2');
    if (media === undefined) return empty(ctx, 406);
    const form = await (await documents()).v2();
    return reply(ctx, media === 'json' ? form : await form.binary(), types.v2[media], ['Last-Modified', modified]);
  };
  return new Map([
    ['/openapi/v2', v2],
    ['/openapi/v3', async (ctx: Context) => showIndex(ctx, await documents())],
    ['/openapi/v3/', async (ctx: Context) => showV3(ctx, await documents(), { ...options, types: hasTypes ? types.v3 : undefined })],
  ]);
}

/** Where every document is, under an address that changes with it. */
async function showIndex(ctx: Context, documents: Documents): Promise<void> {
  if (mediaOf(ctx, 'v3') !== 'json') return empty(ctx, 406);
  const paths: Record<string, { serverRelativeURL: string }> = {};
  for (const name of documents.v3Names()) {
    const form = await documents.v3(name);
    if (form !== undefined) setOwn(paths, name, { serverRelativeURL: addressOf(name, form) });
  }
  return reply(ctx, new Form(Buffer.from(JSON.stringify({ paths }))), TEXT, []);
}
const addressOf = (name: string, form: Form): string => `/openapi/v3/${name}?hash=${form.hash}`;

/** `types`: of its answers, redirections too, where the release has any. */
interface V3Options extends OpenApiOptions {
  readonly types: typeof guessedTypes | undefined;
}

async function showV3(ctx: Context, documents: Documents, options: V3Options): Promise<void> {
  const name = ctx.path.slice('/openapi/v3/'.length);
  if (name === '') return showIndex(ctx, documents);
  const document = documents.v3(name);
  if (document === undefined) return empty(ctx, 404);
  const media = mediaOf(ctx, 'v3');
  if (media === undefined) return empty(ctx, 406);
  const form = await document;
  const wantedHash = ctx.param('hash');
  const headers: string[] = [];
  if (wantedHash !== undefined && wantedHash !== '') {
    if (wantedHash !== form.hash) return redirect(ctx, addressOf(name, form), options.types?.[media]);
    // The address holds the hash: what it leads to never changes.
    replaceCacheControl(ctx, 'public, immutable');
    headers.push('Expires', new Date(options.now() + YEAR_MS).toUTCString());
  }
  return reply(ctx, media === 'json' ? form : await form.binary(), (options.types ?? guessedTypes)[media], headers);
}

/** Undefined where the client takes none of the forms. */
function mediaOf(ctx: Context, release: 'v2' | 'v3'): 'json' | 'binary' | undefined {
  const clauses = parseAccept(ctx.header('accept') ?? '');
  if (clauses.length === 0) return 'json';
  for (const { type, subtype } of clauses) {
    if (type === '*' || (type === 'application' && (subtype === '*' || subtype === 'json'))) return 'json';
    // Two spellings are in use.
    if (subtype === `com.github.proto-openapi.spec.${release}@v1.0+protobuf`) return 'binary';
    if (subtype === `com.github.proto-openapi.spec.${release}.v1.0+protobuf`) return 'binary';
  }
  return undefined;
}

async function reply(ctx: Context, form: Form, type: string, more: readonly string[]): Promise<void> {
  const etag = `"${form.hash}"`;
  const headers = ['ETag', etag, 'Vary', 'Accept-Encoding', 'Vary', 'Accept', ...more];
  if (sentBefore(ctx, etag, headers)) return;
  const packed = form.bytes.length >= GZIP_FROM && acceptsGzip(ctx);
  const bytes = packed ? await form.compressed() : form.bytes;
  if (ctx.res.destroyed) return;
  ctx.responseBytes = bytes.length;
  const encoding = packed ? ['Content-Encoding', 'gzip'] : [];
  head(ctx, 200, ['Content-Type', type, 'Content-Length', String(bytes.length), ...encoding, ...headers]);
  if (ctx.method === 'HEAD') ctx.res.end();
  else endWith(ctx, bytes);
}

function empty(ctx: Context, status: number): void {
  head(ctx, status, ['Content-Length', '0']);
  ctx.res.end();
}

function redirect(ctx: Context, address: string, type = 'text/html; charset=utf-8'): void {
  const page = Buffer.from(`<a href="${address}">Moved Permanently</a>.\n\n`);
  head(ctx, 301, ['Location', address, 'Content-Type', type, 'Content-Length', String(page.length)]);
  ctx.res.end(page);
}

/** Every answer says how long it may be kept; this one says otherwise. */
function replaceCacheControl(ctx: Context, value: string): void {
  const at = ctx.headers.indexOf('Cache-Control');
  if (at < 0) ctx.headers.push('Cache-Control', value);
  else ctx.headers[at + 1] = value;
}
