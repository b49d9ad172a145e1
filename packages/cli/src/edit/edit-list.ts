/** As kubectl, several objects are edited in one file: a list, whose items are stored one after another. */
import { jsonText } from '@plat-dev/lib/json-text';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { parseYaml, stringifyYaml } from '@plat-dev/schema/yaml';
import type { IO } from '../command.ts';
import type { ApiItem } from '../output/print-objects.ts';
import { EditedFile, withoutComments } from './editor.ts';

/** One of the objects. */
export interface ListedEdit {
  current(): Promise<ApiItem>;
  /** Stores what was edited, and prints a line: `skipped` for an object without changes. */
  store(edited: ApiItem, base: ApiItem): Promise<void>;
  failed(error: unknown): void;
}

const introduction = `# Edit the objects below; lines that begin with # do not count. An empty file changes nothing.
`;

export async function editTogether(
  edits: readonly ListedEdit[],
  { output, windowsLineEndings }: { readonly output: string; readonly windowsLineEndings: boolean },
  io: IO,
): Promise<void> {
  const originals = await Promise.all(edits.map((edit) => edit.current()));
  const list = { apiVersion: 'v1', items: originals as unknown as JsonValue[], kind: 'List', metadata: {} };
  const text = output === 'json' ? `${jsonText(list, 4)}\n` : `${introduction}${stringifyYaml(list)}`;
  const file = await EditedFile.make(`list.${output === 'json' ? 'json' : 'yaml'}`, io, windowsLineEndings);
  try {
    const body = withoutComments(await file.edit(text));
    if (body === withoutComments(text)) return io.err('Edit cancelled, no changes made.\n');
    if (body.trim() === '') return io.err('Edit cancelled, saved file was empty.\n');
    file.keep = true;
    const items = itemsOf(body);
    let failures = 0;
    for (const [i, edit] of edits.entries()) {
      const base = originals[i] as ApiItem;
      // An object that was taken out of the list stays as it is.
      const edited = items.find((item) => isSame(item, base));
      if (edited === undefined) continue;
      await edit.store(edited, base).catch((error: unknown) => {
        failures++;
        edit.failed(error);
      });
    }
    file.keep = failures > 0;
  } finally {
    if (file.keep) io.err(`A copy of your changes has been stored to ${JSON.stringify(file.path)}\n`);
    await file.close();
  }
}

function itemsOf(text: string): ApiItem[] {
  const value = parseYaml(text, { single: true });
  const { items } = (typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}) as JsonObject;
  if (!Array.isArray(items)) throw new Error('the edited file is no list of objects');
  return items as unknown as ApiItem[];
}
const isSame = (a: ApiItem, b: ApiItem): boolean =>
  a?.kind === b.kind && a.apiVersion === b.apiVersion && a.metadata?.name === b.metadata?.name && namespaceOf(a) === namespaceOf(b);
const namespaceOf = ({ metadata }: ApiItem): unknown => (metadata as { readonly namespace?: string } | undefined)?.namespace;
