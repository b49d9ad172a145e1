/** Patches that the client computes itself: for --local, dry runs of the client, and --overrides. */
import { choice, FlagError, text } from '@plat-dev/lib/flags';
import type { JsonObject, JsonValue, MessageType } from '@plat-dev/schema/types';
import { parseYaml } from '@plat-dev/schema/yaml';
import { withStockText } from '../program.ts';

export type LocalPatchType = 'strategic' | 'merge' | 'json';

/** The changed object. Throws an Error for a patch that cannot be applied. */
export async function patchedLocally(object: JsonObject, type: LocalPatchType, patch: JsonValue): Promise<JsonObject> {
  const { jsonPatch, readMergePatch, readStrategicPatch } = await import('@plat-dev/patch');
  const read =
    type === 'json'
      ? jsonPatch(patch)
      : type === 'merge'
        ? readMergePatch({ value: patch })
        : readStrategicPatch(await schemaOf(object), { value: patch });
  // The input may be shared with the result.
  const changed = read(structuredClone(object));
  if (typeof changed !== 'object' || changed === null || Array.isArray(changed)) throw new Error('the patch makes no object');
  return changed;
}

/** Merge keys come from the schemas of built-in kinds. */
async function schemaOf({ apiVersion, kind }: JsonObject): Promise<MessageType> {
  const { schemaOfKind } = await import('../discovery/kind-schemas.ts');
  const schema = schemaOfKind(String(apiVersion), String(kind));
  if (schema === undefined)
    throw withStockText(
      new Error(`strategic patches of ${String(apiVersion)} ${String(kind)} cannot be computed here: use --type merge`),
      `error: strategic merge patch is not supported for ${String(apiVersion)}, Kind=${String(kind)} locally, try --type merge`,
    );
  return schema;
}

// ---- overrides ---------------------------------------------------------------------------------------------------

export const overrideFlags = {
  overrides: text('', 'JSON or YAML to change the object with before it is sent.', { value: 'PATCH' }),
  'override-type': choice('merge', ['json', 'merge', 'strategic'], 'Type of the patch that --overrides holds.'),
};

/** The object with --overrides. Throws FlagError. */
export async function overridden(
  object: JsonObject,
  { overrides, overrideType }: { readonly overrides: string; readonly overrideType: LocalPatchType },
): Promise<JsonObject> {
  if (overrides === '') return object;
  try {
    return await patchedLocally(object, overrideType, parseYaml(overrides, { single: true }));
  } catch (error) {
    throw new FlagError(`--overrides: ${(error as Error).message}`);
  }
}
