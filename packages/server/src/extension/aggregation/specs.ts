/** OpenAPI documents of aggregated servers, fetched in the background and kept until their APIServices are deleted. */

import { createHash } from 'node:crypto';
import type { APIService } from '@plat-dev/kinds/apiregistration/schema/v1';
import type { LiveView } from '@plat-dev/kinds/live-view';
import type { Cancel, Clock } from '@plat-dev/lib/clock';
import { own } from '@plat-dev/lib/own';
import { inSlices, Slices } from '@plat-dev/lib/slices';
import { Ticker } from '@plat-dev/lib/ticker';
import { parsedExact } from '@plat-dev/schema/json/parse-parts';
import type { JsonValue } from '@plat-dev/schema/types';
import type { Backend, Backends } from './backends.ts';
import { isObject, partOf, type SpecPart } from './spec.ts';

/** One group version of an aggregated server. */
export interface RemoteSpec {
  readonly group: string;
  readonly version: string;
  readonly v2: SpecPart | undefined;
  /** The whole document of OpenAPI v3. */
  readonly v3: Buffer | undefined;
}

export interface SpecsOptions {
  readonly apiServices: LiveView<APIService>;
  readonly backends: Backends;
  readonly clock: Clock;
}

/** Interval of fetches, delay after a change, and timeout of a fetch. */
const PERIOD_MS = 60_000;
const SETTLE_MS = 200;
const FETCH_MS = 10_000;
/** Limits: bytes of a document, and number of servers. */
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_SPECS = 64;
const reader = { name: 'system:aggregator', groups: [] };

interface Kept extends RemoteSpec {
  readonly server: Backend['server'];
  readonly v2Hash: string;
  readonly v3Hash: string;
}

export class RemoteSpecs {
  private readonly options: SpecsOptions;
  private readonly specsByName = new Map<string, Kept>();
  private specs: readonly RemoteSpec[] = [];
  private ends: (() => void)[] = [];
  private soon: Cancel | undefined;
  private fetching = false;

  /** Runs while there are servers elsewhere. */
  private readonly rounds: Ticker;

  constructor(options: SpecsOptions) {
    this.options = options;
    this.rounds = new Ticker(options.clock, PERIOD_MS, () => {
      void this.fetchAll();
      return this.hasRemote();
    });
  }

  /** The same list until one of the documents changes. */
  get current(): readonly RemoteSpec[] {
    return this.specs;
  }

  start(): void {
    const { apiServices } = this.options;
    this.ends = [apiServices.onChange(() => this.look()), () => this.rounds.close()];
    this.look();
  }
  /** Why documents are not fetched; undefined while they are. */
  problem(): string | undefined {
    return this.ends.length === 0 ? 'not started' : undefined;
  }
  close(): void {
    this.soon?.();
    for (const end of this.ends) end();
    this.ends = [];
  }

  private hasRemote(): boolean {
    return this.options.backends.all().some(({ connect }) => connect === undefined);
  }
  private look(): void {
    this.drop();
    if (this.hasRemote()) this.rounds.start();
    if (this.soon !== undefined || !this.options.backends.all().some((backend) => this.wants(backend))) return;
    this.soon = this.options.clock.after(SETTLE_MS, () => {
      this.soon = undefined;
      void this.fetchAll();
    });
  }
  /** Available, and its document was not fetched yet. */
  private wants({ name, available, server, connect }: Backend): boolean {
    return available && connect === undefined && this.specsByName.get(name)?.server !== server;
  }

  /** Specs of servers that are gone are removed; those of unavailable ones stay. */
  private drop(): void {
    const here = new Set(this.options.backends.all().map(({ name }) => name));
    let isChanged = false;
    for (const name of this.specsByName.keys()) if (!here.has(name)) isChanged = this.specsByName.delete(name) || isChanged;
    if (isChanged) this.publish();
  }
  private publish(): void {
    const byName = [...this.specsByName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, cachedSpec]) => cachedSpec);
    this.specs = byName.filter(({ v2, v3 }) => v2 !== undefined || v3 !== undefined);
  }

  private async fetchAll(): Promise<void> {
    if (this.fetching || this.ends.length === 0) return;
    this.fetching = true;
    const available = this.options.backends.all().filter(({ available, connect }) => available && connect === undefined);
    await Promise.all(available.slice(0, MAX_SPECS).map((backend) => this.fetch(backend)));
    this.fetching = false;
    if (this.ends.length > 0) this.look();
  }

  private async fetch(backend: Backend): Promise<void> {
    const { name, group, version, server } = backend;
    const cachedSpec = this.specsByName.get(name);
    const [v2, v3] = await Promise.all([fetchV2(backend, cachedSpec), fetchV3(backend, cachedSpec)]);
    if (this.ends.length === 0 || this.options.backends.find(group, version)?.server !== server) return;
    this.specsByName.set(name, { group, version, server, v2: v2.part, v2Hash: v2.hash, v3: v3.bytes, v3Hash: v3.hash });
    if (cachedSpec === undefined || cachedSpec.v2 !== v2.part || cachedSpec.v3 !== v3.bytes) this.publish();
  }
}

async function fetched(server: Backend['server'], path: string): Promise<Buffer | undefined> {
  try {
    const { status, body } = await server.get(path, reader, { timeoutMs: FETCH_MS, verified: true });
    return status === 200 && body.length <= MAX_BYTES ? body : undefined;
  } catch {
    // A failed fetch is retried; availability is checked elsewhere.
    return undefined;
  }
}

/** A failed fetch keeps the previous document. A malformed document counts as none. */
async function fetchV2(
  { server, group, version }: Backend,
  cachedSpec: Kept | undefined,
): Promise<{ part: SpecPart | undefined; hash: string }> {
  const text = await fetched(server, '/openapi/v2');
  if (text === undefined) return { part: cachedSpec?.v2, hash: cachedSpec?.v2Hash ?? '' };
  const hash = createHash('sha256').update(text).digest('hex');
  if (hash === cachedSpec?.v2Hash) return { part: cachedSpec.v2, hash };
  try {
    return { part: await inSlices(partOf(text, group, version), new Slices()), hash };
  } catch {
    return { part: undefined, hash };
  }
}

async function fetchV3(
  { server, group, version }: Backend,
  cachedSpec: Kept | undefined,
): Promise<{ bytes: Buffer | undefined; hash: string }> {
  const cachedDocument = { bytes: cachedSpec?.v3, hash: cachedSpec?.v3Hash ?? '' };
  const index = await fetched(server, '/openapi/v3');
  const address = index === undefined ? undefined : await addressIn(index, `apis/${group}/${version}`);
  // The address changes with the document.
  if (address === undefined || (address === cachedDocument.hash && address.includes('hash='))) return cachedDocument;
  const bytes = await fetched(server, address);
  if (bytes === undefined || (cachedDocument.bytes !== undefined && bytes.equals(cachedDocument.bytes))) return cachedDocument;
  try {
    const document = await parsedDocument(bytes);
    return isObject(document) && isObject(document.paths) ? { bytes, hash: address } : cachedDocument;
  } catch {
    return cachedDocument;
  }
}

async function addressIn(index: Buffer, name: string): Promise<string | undefined> {
  try {
    const { paths } = (await parsedDocument(index)) as { paths?: Record<string, { serverRelativeURL?: unknown }> };
    const address = own(paths, name)?.serverRelativeURL;
    return typeof address === 'string' && address.startsWith('/openapi/v3/') ? address : undefined;
  } catch {
    return undefined;
  }
}

const parsedDocument = (text: Buffer): Promise<JsonValue> => inSlices(parsedExact(text), new Slices()) as Promise<JsonValue>;
