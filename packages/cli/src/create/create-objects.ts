/** Creates objects that commands made from flags or read from files: create, run, expose, autoscale. */
import type { ApiResource } from '@plat-dev/client/discovery';
import { bool } from '@plat-dev/lib/flags';
import { ApiError } from '@plat-dev/meta/errors';
import type { JsonObject } from '@plat-dev/schema/types';
import { withLastApplied } from '../apply/last-applied.ts';
import type { IO } from '../command.ts';
import { withEmptyFields } from '../objects/empty-fields.ts';
import type { DryRun } from '../objects/object-flags.ts';
import type { ApiItem } from '../output/print-objects.ts';
import type { Results } from '../output/results.ts';
import { isStock } from '../program.ts';
import type { Work } from '../work.ts';

export const saveConfigFlag = bool(false, 'Keep the object in its annotation for a later client-side apply.');

export interface CreateOptions {
  readonly fieldManager: string;
  readonly dryRun: DryRun;
  readonly saveConfig: boolean;
  readonly validate?: 'Strict' | 'Warn' | 'Ignore';
}
export interface Creation {
  readonly resource: ApiResource;
  readonly namespace: string | undefined;
  readonly object: JsonObject;
  /** For the message: `created`. */
  readonly verb: string;
}

/** Sends the object and reports it. Throws ApiError. */
export async function createObject(work: Work, creation: Creation, options: CreateOptions, results: Results): Promise<void> {
  const createdObject = await sendObject(work, creation, options);
  results.done({ resource: creation.resource, name: createdObject.metadata?.name ?? '' }, creation.verb, createdObject);
}

/** The object as the server made it. Throws ApiError. */
export async function sendObject(work: Work, creation: Omit<Creation, 'verb'>, options: CreateOptions): Promise<ApiItem> {
  const { resource, namespace } = creation;
  const metadata = creation.object.metadata as JsonObject | undefined;
  const object = namespace === undefined ? creation.object : { ...creation.object, metadata: { ...metadata, namespace } };
  const body = options.saveConfig ? withLastApplied(object) : object;
  try {
    const { object: createdObject } = await work.sendTo(resource, namespace, {
      method: 'POST',
      body,
      query: {
        fieldManager: options.fieldManager,
        fieldValidation: options.validate,
        dryRun: options.dryRun === 'server' ? 'All' : undefined,
      },
    });
    return createdObject;
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'AlreadyExists' || isStock(work.io)) throw error;
    throw new ApiError(error.code, error.reason, `${error.message}; \`plat apply\` changes objects that exist`);
  }
}

/** Reports an object that a dry run of the client would send. `asGiven`: it comes from a file, not from flags. */
export function showObject(io: IO, creation: Creation, options: CreateOptions, results: Results, asGiven = false): void {
  const { resource, verb, object } = creation;
  const { name = '', generateName = '' } = (object.metadata ?? {}) as { name?: string; generateName?: string };
  const printedObject = isStock(io) && !asGiven ? withEmptyFields(object) : object;
  const item = (options.saveConfig ? withLastApplied(printedObject) : printedObject) as ApiItem;
  results.done({ resource, name: name || `${generateName}<made by the server>` }, verb, item);
}
