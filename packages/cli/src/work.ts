/** The context of commands about objects: connection, discovery, requests, and a signal for interrupts. */

import { type ApiResource, Discovery, UnknownKind } from '@plat-dev/client/discovery';
import { pathOf, queryOf } from '@plat-dev/client/dynamic';
import { errorOf, objectOf, readAll } from '@plat-dev/client/transport';
import { jsonText } from '@plat-dev/lib/json-text';
import type { JsonObject } from '@plat-dev/schema/types';
import type { Failure, IO } from './command.ts';
import { type ConnectOptions, connect, type Session } from './connect.ts';
import type { Manifest } from './objects/manifest.ts';
import type { ObjectRef } from './objects/object-ref.ts';
import { isSecrets, throwMasked } from './objects/secret-errors.ts';
import type { ApiItem } from './output/print-objects.ts';
import { screenText } from './output/screen-text.ts';
import type { Warnings } from './output/warnings.ts';
import { isStock, unknownKind, withStockText } from './program.ts';
import { interrupts } from './terminal/interrupt.ts';

export interface Send {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly contentType?: string;
  readonly subresource?: string | undefined;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Ends the request earlier than the command. */
  readonly signal?: AbortSignal;
  /** As in `RequestOptions`. */
  readonly ignoreWarnings?: boolean;
}
export interface SentObject<T> {
  readonly status: number;
  readonly object: T;
}

/** How errors of files are reported, as in `Failure`. */
type LeavingOut = Pick<Failure, 'asList'>;

const maxBytes = 1 << 30;

export class Work {
  readonly session: Session;
  readonly io: IO;
  readonly signal: AbortSignal;
  discovery: Discovery;
  readonly warnings: Warnings;
  private failures = 0;

  constructor(session: Session, io: IO, signal: AbortSignal) {
    this.session = session;
    this.io = io;
    this.signal = signal;
    this.warnings = session.warnings;
    this.discovery = new Discovery(session.transport, session.cache);
  }
  get namespace(): string {
    return this.session.connection.namespace;
  }
  /** Discovery may be outdated. */
  forget(): void {
    this.session.cache?.clear();
    this.discovery = new Discovery(this.session.transport, this.session.cache);
  }
  /** Files that cannot be read are left out, and the others go on; the exit code says that something failed. */
  leaveOut(broken: readonly Error[], { asList }: LeavingOut = {}): void {
    for (const error of broken) this.io.fail({ error, asList });
    this.failures += broken.length;
  }
  /** The resource of an object of a file. Throws UnknownKind. */
  resourceOf(manifest: Manifest): Promise<ApiResource> {
    return this.discovery.forKind(manifest.object.apiVersion, manifest.object.kind).catch((error: unknown) => {
      throw error instanceof UnknownKind ? withStockText(error, unmappedText(manifest, error), manifest.list !== undefined) : error;
    });
  }
  /** The same for several; those whose kind the server does not have are left out. */
  async withResources(manifests: readonly Manifest[], { asList }: LeavingOut = {}): Promise<[Manifest, ApiResource][]> {
    const resourcesOfManifests: [Manifest, ApiResource][] = [];
    for (const manifest of manifests) {
      try {
        resourcesOfManifests.push([manifest, await this.resourceOf(manifest)]);
      } catch (error) {
        if (!(error instanceof UnknownKind)) throw error;
        this.io.fail({ error, during: manifest.source, asList });
        this.failures++;
      }
    }
    return resourcesOfManifests;
  }
  /** Where nothing is left, its errors say why. */
  get hasLeftOut(): boolean {
    return this.failures > 0;
  }
  exitCode(code: number): number {
    return code === 0 && this.failures > 0 ? 1 : code;
  }
  get<T = ApiItem>(ref: ObjectRef, subresource?: string): Promise<T> {
    return this.send<T>(ref, { method: 'GET', subresource }).then(({ object }) => object);
  }
  /** The same for an object that the command line names: the error of a missing one suggests the name that was meant. */
  getNamed<T = ApiItem>(ref: ObjectRef): Promise<T> {
    return this.get<T>(ref).catch(async (error: unknown) => {
      const { withObjectHint } = await import('./get/hints.ts');
      throw await withObjectHint(this, error, ref);
    });
  }
  /** Whether the object exists and is visible: a 404 of a subresource does not say which of both is missing. */
  exists(ref: ObjectRef): Promise<boolean> {
    return this.get(ref).then(
      () => true,
      () => false,
    );
  }
  /** A request about one object. Throws ApiError. */
  send<T = ApiItem>(ref: ObjectRef, what: Send): Promise<SentObject<T>> {
    const response = this.request<T>(pathOf(ref.resource, ref.namespace, ref.name, what.subresource), what);
    return isSecrets(ref.resource) ? response.catch(throwMasked) : response;
  }
  /** A request about a collection. */
  sendTo<T = ApiItem>(resource: ApiResource, namespace: string | undefined, what: Send): Promise<SentObject<T>> {
    const response = this.request<T>(pathOf(resource, namespace), what.method === 'POST' ? { ...what, body: asNew(what.body) } : what);
    return isSecrets(resource) ? response.catch(throwMasked) : response;
  }
  private async request<T>(
    path: string,
    { method, body, contentType = 'application/json', query = {}, signal, ignoreWarnings = false }: Send,
  ): Promise<SentObject<T>> {
    // In the order of the stock client, for scripts that read what -v prints.
    const search = queryOf(Object.fromEntries(Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1))));
    if (method !== 'GET' && query.dryRun === undefined) await this.session.announce();
    const answer = await this.session.transport.open({
      method,
      path: search === '' ? path : `${path}?${search}`,
      headers: { accept: 'application/json', ...(body !== undefined && { 'content-type': contentType }) },
      ...(body !== undefined && { body: typeof body === 'string' ? body : jsonText(body) }),
      signal: signal ?? this.signal,
      ignoreWarnings,
      ...this.session.timeout,
    });
    if (answer.status >= 300) throw await errorOf(answer);
    return { status: answer.status, object: objectOf<T>((await readAll(answer.body, maxBytes)).toString()) };
  }
}

/** The stock client's line about an object whose kind the server does not have. For items of a list it has no place of theirs. */
function unmappedText({ name = '', namespace = '', origin, list }: Manifest, error: UnknownKind): string {
  if (list !== undefined) return `error: unable to recognize ${unknownKind(error)}`;
  const [shownName, shownNamespace, file] = [name, namespace, origin].map((text) => JSON.stringify(text));
  return `error: resource mapping not found for name: ${shownName} namespace: ${shownNamespace} from ${file}: ${unknownKind(error)}\nensure CRDs are installed first`;
}

/** What was dumped from a server is created again without its version, which the server refuses. */
function asNew(body: Send['body']): Send['body'] {
  const metadata = typeof body === 'object' ? (body as { metadata?: JsonObject }).metadata : undefined;
  if (metadata?.resourceVersion === undefined) return body;
  const { resourceVersion: _, ...rest } = metadata;
  return { ...(body as JsonObject), metadata: rest };
}

/**
 * Connects, runs and disconnects; an interrupt in any phase of it ends it with exit code 130, also where the work goes on without
 * an answer. `untilInterrupted`: an interrupt is the usual end, and the exit code that of the work.
 */
export async function withServer(
  options: ConnectOptions & { readonly namespace?: string | undefined },
  io: IO,
  work: (work: Work) => Promise<number>,
  { untilInterrupted = false }: { readonly untilInterrupted?: boolean } = {},
): Promise<number> {
  const interrupted = interrupts(io);
  let session: Session | undefined;
  try {
    session = await connect(options, options.namespace, io, interrupted.signal);
    const context = new Work(session, io, interrupted.signal);
    const code = context.exitCode(await work(context));
    if (interrupted.signal.aborted && !untilInterrupted) return interrupted.code;
    return options.warningsAsErrors ? failForWarnings(session.warnings.count, code, io) : code;
  } catch (error) {
    if (interrupted.signal.aborted) return interrupted.code;
    throw error;
  } finally {
    interrupted.forget();
    session?.transport.close();
    session?.cache?.save();
  }
}
function failForWarnings(count: number, code: number, io: IO): number {
  if (count === 0) return code;
  io.err(`${isStock(io) ? 'error: ' : 'plat: '}${count} ${count === 1 ? 'warning' : 'warnings'} received\n`);
  return code === 0 ? 1 : code;
}

/** `pod/web`, `deployment.apps/web` */
export const shownName = (resource: Pick<ApiResource, 'kind' | 'group'>, name: string): string =>
  screenText(`${typeName(resource)}/${name}`);
export function typeName({ kind, group }: Pick<ApiResource, 'kind' | 'group'>): string {
  return group === '' ? kind.toLowerCase() : `${kind.toLowerCase()}.${group}`;
}
