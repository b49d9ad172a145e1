/**
 * On update a stock server checks metadata in the registry and again with the rules of the kind, and clients see an
 * error as often as it was found. Metadata without errors the first time has none the second, so that a valid object is
 * not checked twice. Only the rule of finalizers without a domain belongs to kinds alone.
 */
import type { FieldErrors } from '@plat-dev/meta/field';
import type { ApiObject, KindEnv } from '../kind.ts';
import { type MetadataRules, validateObjectMeta, validateObjectMetaUpdate, validatePlainFinalizers } from './metadata.ts';

/** The rules of changed metadata, once more. */
export function metadataUpdateAgain(object: ApiObject, old: ApiObject, errors: FieldErrors, env: KindEnv): void {
  changedMetadataAgain(object, old, errors);
  validatePlainFinalizers(object.metadata, errors, env);
}
/** The same for kinds whose finalizers need no domain. */
export function changedMetadataAgain(object: ApiObject, old: ApiObject, errors: FieldErrors): void {
  if (!errors.empty) validateObjectMetaUpdate(object.metadata, old.metadata, errors);
}

/** The rules of any metadata, once more. */
export function metadataAgain(object: ApiObject, rules: MetadataRules, errors: FieldErrors, env: KindEnv): void {
  if (errors.empty) validatePlainFinalizers(object.metadata, errors, env);
  else validateObjectMeta(object.metadata, rules, errors, env);
}
