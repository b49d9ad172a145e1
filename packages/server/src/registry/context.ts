/** The facts about a request that a verb needs, and the parts of the server that it uses. */

import type { KindEnv } from '@plat-dev/kinds/kind';
import type { Slices } from '@plat-dev/lib/slices';
import type { JsonObject } from '@plat-dev/schema/types';
import type { Cache } from '@plat-dev/storage/cache';
import type { HistoryPolicy } from '@plat-dev/storage/history';
import type { AdmissionChain, AdmissionRequest } from '../admission/types.ts';
import type { User } from '../auth/types.ts';
import type { WriteOrigin } from '../history/note.ts';
import type { NamedLocks } from '../named-locks.ts';
import type { RequestTiming } from '../request-timing.ts';
import type { Catalog, Resource } from './catalog.ts';
import type { Hooks } from './hooks.ts';

export interface RegistryDeps {
  readonly catalog: Catalog;
  readonly cache: Cache;
  readonly env: KindEnv;
  readonly admission: AdmissionChain;
  readonly hooks: Hooks;
  /** By store key: those of objects whose writes take many turns (`large-object-locks.ts`). */
  readonly largeObjectLocks: NamedLocks;
  /** A random number of 0 to limit-1. */
  readonly randomBelow: (limit: number) => number;
  readonly newUid: () => string;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** Maximum size of a stored object, in bytes of its JSON text. */
  readonly maxObjectBytes: number;
  /** Which versions are kept, and of which of them only an outline; undefined: none, and writes carry no notes. */
  readonly history?: HistoryPolicy | undefined;
}

/** One request, as the registry sees it. */
export interface Target {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

export interface WriteContext extends Target {
  readonly user: User;
  readonly dryRun: boolean;
  /** Who owns the fields this write sets: the `fieldManager` parameter, or the name before the slash of the user agent. */
  readonly manager: string;
  /** The request, as history shows it: made where history is kept. Absent for writes without a request. */
  readonly origin?: (() => WriteOrigin) | undefined;
  /** The body as received, if it is JSON and holds the object itself: errors may quote it. */
  readonly sent?: Buffer | undefined;
  /** Slices for work on so many bytes, or on the body; they end with the request. Absent for writes without a request. */
  readonly request?: { slices(bytes?: number): Slices | undefined } | undefined;
  /** The options as the admission chain sees them. */
  readonly options: JsonObject;
  /** The object is deleted by deletecollection: the request did not name it. */
  readonly collection?: boolean | undefined;
  /** Delete the object in whichever version it is stored: no conversion is needed. */
  readonly asStored?: boolean | undefined;
  /** Collects the mutations of admission, if the client requested them. */
  readonly explanation?: AdmissionRequest['explanation'];
  /** Where the time of the request goes. */
  readonly timing?: RequestTiming | undefined;
  /** The header `traceparent` of calls that the request makes. */
  readonly traceparent?: (() => string | undefined) | undefined;
  readonly warn: (text: string) => void;
  readonly annotate: (key: string, value: string, level?: 'Metadata' | 'Request') => void;
}

/**
 * Resolves when the object of a target can be looked up in its collection: at once, unless its kind is still being loaded. Then it alone is
 * read from the store.
 */
export async function lookUp(target: Pick<Target, 'resource' | 'namespace' | 'name'>): Promise<void> {
  const { collection } = target.resource;
  if (collection?.pending !== undefined) await collection.look(keyOf(target));
}

export const keyOf = (target: { resource: Resource; namespace: string; name: string }): string =>
  target.resource.kind.namespaced ? `${target.namespace}/${target.name}` : target.name;

/** Whether an object of a key may be of the kind: a definition that was made anew may have another scope, and other keys. */
export const isKeyOf = ({ kind, collection }: Resource, storedKey: string): boolean =>
  storedKey.includes('/', collection?.prefix.length) === kind.namespaced;
