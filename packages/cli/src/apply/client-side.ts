/**
 * Client-side apply: the difference between the file, what was applied last and the current object is sent as a patch. The object
 * keeps what was applied in an annotation.
 */
import { ApiError } from '@plat-dev/meta/errors';
import type { JsonMap } from '@plat-dev/patch/strategic-lists';
import { threeWayPatch } from '@plat-dev/patch/three-way';
import type { JsonObject, MessageType } from '@plat-dev/schema/types';
import type { ObjectRef } from '../objects/object-ref.ts';
import type { ApiItem } from '../output/print-objects.ts';
import type { Work } from '../work.ts';
import { lastAppliedAnnotation, lastAppliedOf, lastAppliedText, withLastApplied } from './last-applied.ts';
import { mergeSchemaOf } from './merge-schema.ts';

export interface ClientSideOptions {
  readonly fieldManager: string;
  readonly fieldValidation: string | undefined;
  readonly dryRun: 'none' | 'client' | 'server';
  readonly overwrite: boolean;
  readonly openapiPatch: boolean;
  /** Deletes the object and creates it again when the patch is refused. Resolves when it is gone. */
  readonly recreate?: (ref: ObjectRef) => Promise<void>;
}
export interface Applied {
  readonly verb: 'created' | 'configured' | 'unchanged';
  readonly object: ApiItem;
}

/** Conflicts with other writers after which the patch is made again. */
const MOST_CONFLICTS = 5;
const PAUSE_MS = 1000;

export async function applyOnClient(work: Work, ref: ObjectRef, object: JsonObject, options: ClientSideOptions): Promise<Applied> {
  const applied = withLastApplied(object);
  const current = (await currentOf(work, ref)) ?? (await createOrGet(work, ref, applied, options));
  if ('verb' in current) return current;
  if (options.dryRun === 'client') return { verb: 'configured', object: current };
  if (lastAppliedText(current) === undefined) warnOfMissing(work, ref);
  try {
    return await during('applying patch to', () => patchUntilStored(work, ref, applied, current, options));
  } catch (error) {
    if (options.recreate === undefined || !isRefused(error)) throw error;
    await options.recreate(ref);
    const create = async (body: JsonObject | ApiItem): Promise<ApiItem> =>
      (await work.sendTo(ref.resource, ref.namespace, { method: 'POST', body, query: queryOf(options) })).object;
    try {
      return { verb: 'configured', object: await create(applied) };
    } catch (refused) {
      // The object as it was is better than none.
      await create(current);
      throw refused;
    }
  }
}

/** The object that was created, or the one that someone else has created in the meantime. */
async function createOrGet(work: Work, ref: ObjectRef, applied: JsonObject, options: ClientSideOptions): Promise<Applied | ApiItem> {
  if (options.dryRun === 'client') return { verb: 'created', object: applied as ApiItem };
  try {
    const { object } = await during('creating', () =>
      work.sendTo(ref.resource, ref.namespace, { method: 'POST', body: applied, query: queryOf(options) }),
    );
    return { verb: 'created', object };
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists') throw error;
    return work.get(ref);
  }
}

async function patchUntilStored(
  work: Work,
  ref: ObjectRef,
  applied: JsonObject,
  first: ApiItem,
  options: ClientSideOptions,
): Promise<Applied> {
  let current = first;
  for (let round = 0; ; round++) {
    try {
      return await patchOnce(work, ref, applied, current, options);
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'Conflict' || round >= MOST_CONFLICTS) throw error;
      if (round > 0) await work.io.clock.sleep(PAUSE_MS, work.signal);
      current = await work.get(ref);
    }
  }
}
async function patchOnce(work: Work, ref: ObjectRef, applied: JsonObject, current: ApiItem, options: ClientSideOptions): Promise<Applied> {
  const patch = await clientSidePatch(work, ref, applied, current, options);
  if (Object.keys(patch.body).length === 0) return { verb: 'unchanged', object: current };
  const { object } = await work.send(ref, { method: 'PATCH', ...patch, query: queryOf(options) });
  return { verb: 'configured', object };
}

/** The patch that makes the current object what was applied, and its content type. */
export async function clientSidePatch(
  work: Work,
  ref: ObjectRef,
  applied: JsonObject,
  current: ApiItem,
  options: Pick<ClientSideOptions, 'overwrite' | 'openapiPatch'>,
): Promise<{ body: JsonMap; contentType: string }> {
  const type: MessageType | undefined = await mergeSchemaOf(work, ref.resource, applied, options.openapiPatch);
  const body = threeWayPatch({
    type,
    lastApplied: lastAppliedOf(current),
    applied,
    current: current as unknown as JsonMap,
    overwrite: options.overwrite,
  });
  return { body, contentType: `application/${type === undefined ? '' : 'strategic-'}merge-patch+json` };
}

const queryOf = ({ fieldManager, fieldValidation, dryRun }: ClientSideOptions) => ({
  fieldManager,
  fieldValidation,
  dryRun: dryRun === 'server' ? 'All' : undefined,
});

async function currentOf(work: Work, ref: ObjectRef): Promise<ApiItem | undefined> {
  try {
    return await work.get(ref);
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return undefined;
    throw error;
  }
}
/** A patch that an immutable field or an invalid value stops. */
const isRefused = (error: unknown): boolean => error instanceof ApiError && (error.reason === 'Conflict' || error.reason === 'Invalid');

function warnOfMissing({ io }: Work, ref: ObjectRef): void {
  const { program } = io;
  io.err(
    `Warning: resource ${ref.resource.name}/${ref.name} is missing the ${lastAppliedAnnotation} annotation which is required by ${program} apply. ${program} apply should only be used on resources created declaratively by either ${program} create --save-config or ${program} apply. The missing annotation will be patched automatically.\n`,
  );
}

/** Errors say in which step they happened. */
async function during<T>(step: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError) stepOf.set(error, step);
    throw error;
  }
}
const stepOf = new WeakMap<ApiError, string>();
/** `creating`, or undefined. */
export const failedStep = (error: unknown): string | undefined => (error instanceof ApiError ? stepOf.get(error) : undefined);
