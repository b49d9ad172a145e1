/** Creates an object from its YAML, or asks what the server would make of it. */
import type { Api } from '../../../api/api.ts';
import { collectionPath, type Kind } from '../../../api/kinds.ts';
import { textAt } from '../../../api/values.ts';
import { FIELD_MANAGER } from '../actions/changes.ts';
import { readStatus, serverText, YAML } from '../yaml/edit-session.ts';
import { parseText } from '../yaml/places.ts';

export interface NewObject {
  readonly name: string;
  readonly namespace: string | undefined;
  /** As the server has it, with defaults. */
  readonly text: string;
}

/** The namespace that the text names comes before that of the page. Throws ApiError. */
export async function createObject(api: Api, kind: Kind, namespace: string, text: string, isDryRun: boolean): Promise<NewObject> {
  const place = kind.isNamespaced ? textAt(parseText(text).value, 'metadata', 'namespace') || namespace : undefined;
  const answer = await api.text(collectionPath(kind, place), {
    method: 'POST',
    body: text,
    contentType: YAML,
    accept: YAML,
    readStatus,
    query: { fieldManager: FIELD_MANAGER, fieldValidation: 'Strict', ...(isDryRun && { dryRun: 'All' }) },
  });
  const { text: stored, value } = serverText(answer);
  return { name: textAt(value, 'metadata', 'name'), namespace: place, text: stored };
}
