/**
 * An edit of one object: the text as it was read (`base`), the text as it is written now, and what the server has meanwhile.
 *
 *   clean ──somebody types──▶ dirty ──saved or discarded──▶ clean
 *
 * While it is clean it follows the server. While it is dirty, changes of others are only told of; a save that they made impossible
 * leads to a merge.
 */

import type { JsonValue } from '@plat-dev/schema/types';
import { stringifyYaml } from '@plat-dev/schema/yaml';
import { editYaml } from '@plat-dev/schema/yaml/edit';
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { Api } from '../../../api/api.ts';
import type { Status } from '../../../api/api-error.ts';
import { type ObjectReference, objectPath } from '../../../api/kinds.ts';
import { isMap, textAt } from '../../../api/values.ts';
import { FIELD_MANAGER } from '../actions/changes.ts';
import { type Conflict, type Decide, mergeValues } from './merge-values.ts';
import { parseText, withoutField } from './places.ts';

export interface ServerText {
  readonly text: string;
  readonly value: unknown;
  readonly resourceVersion: string;
}
export interface MergeResult {
  readonly text: string;
  readonly conflicts: readonly Conflict[];
}

export const YAML = 'application/yaml';
/** The server answers with errors in YAML as well. */
export const readStatus = (text: string): Status => {
  const { value } = parseText(text);
  return isMap(value) ? value : {};
};

/** The server's own text, so that no digit of a number is lost; fields that only tools read are left out. */
export function serverText(text: string): ServerText {
  const shown = withoutField(text, ['metadata', 'managedFields']);
  const { value } = parseText(shown);
  return { text: shown, value, resourceVersion: textAt(value, 'metadata', 'resourceVersion') };
}

export async function readText(api: Api, object: ObjectReference, signal?: AbortSignal): Promise<ServerText> {
  return serverText(await api.text(objectPath(object), { accept: YAML, readStatus, ...(signal === undefined ? {} : { signal }) }));
}

export class EditSession {
  readonly object: ObjectReference;
  readonly base: Signal<ServerText>;
  readonly text: Signal<string>;
  readonly isDirty: ReadonlySignal<boolean>;
  readonly #api: Api;

  constructor(api: Api, object: ObjectReference, base: ServerText) {
    this.#api = api;
    this.object = object;
    this.base = signal(base);
    this.text = signal(base.text);
    this.isDirty = computed(() => this.text.value !== this.base.value.text);
  }

  /** What the server would store: the text goes through defaults, admission and validation. Throws ApiError. */
  async preview(text = this.text.peek()): Promise<ServerText> {
    return this.#put(text, { dryRun: 'All' });
  }

  /** Throws ApiError, with code 409 where somebody else was faster. */
  async save(text = this.text.peek()): Promise<void> {
    this.reset(await this.#put(text, {}));
  }

  /** Goes on from another version, without what was written. */
  reset(base: ServerText): void {
    this.base.value = base;
    this.text.value = base.text;
  }

  async readNewest(): Promise<ServerText> {
    return readText(this.#api, this.object);
  }

  /** What was written, on top of what the server has now. */
  merge(theirs: ServerText, decide?: Decide): MergeResult {
    const { value, conflicts } = mergeValues(this.base.peek().value, parseText(this.text.peek()).value, theirs.value, decide);
    return { text: edited(theirs.text, value), conflicts };
  }

  /** Goes on from the newest version with a text that takes its changes into account. */
  rebase(theirs: ServerText, text: string): void {
    this.base.value = theirs;
    this.text.value = text;
  }

  /** The text as it was written, which replaces whatever the server has now. */
  overwriting(theirs: ServerText): string {
    return this.text.peek().replace(/^( {2}resourceVersion:).*$/m, `$1 "${theirs.resourceVersion}"`);
  }

  async #put(text: string, query: { readonly dryRun?: 'All' }): Promise<ServerText> {
    const answer = await this.#api.text(objectPath(this.object), {
      method: 'PUT',
      body: text,
      contentType: YAML,
      accept: YAML,
      readStatus,
      query: { ...query, fieldManager: FIELD_MANAGER, fieldValidation: 'Strict' },
    });
    return serverText(answer);
  }
}

/** The text with another value; what did not change stays as it is written. */
function edited(text: string, value: unknown): string {
  try {
    return editYaml(text, [value as JsonValue]).text;
  } catch {
    return stringifyYaml(value as JsonValue);
  }
}
