/**
 * An object as YAML, with the owners of each field as a comment on its line:
 *
 *   spec:
 *     replicas: 3        # scaler (Update of scale, 2026-05-01T10:00:00Z)
 */
import { type OwnedField, pointerPart } from '@plat-dev/patch/owners';
import type { JsonValue } from '@plat-dev/schema/types';
import { stringifyYaml } from '@plat-dev/schema/yaml';
import { placedDocuments, type YamlNode } from '@plat-dev/schema/yaml/places';
import type { Paint } from '../output/colours.ts';
import { screenText } from '../output/screen-text.ts';
import { type Owner, ownerColours, ownerText } from './owner-text.ts';

/** The column of comments; longer lines have theirs after two spaces. */
const WIDEST = 60;

export function annotatedYaml(object: JsonValue, fields: readonly OwnedField[], paint: Paint): string {
  const text = stringifyYaml(object);
  const [document] = placedDocuments(text);
  const byPointer = new Map(fields.map((field) => [field.pointer, field.owners]));
  const byLine = document?.place === undefined ? new Map<number, Set<Owner>>() : ownersByLine(text, document.place, byPointer);
  const colours = ownerColours(fields.flatMap(({ owners }) => owners));
  const lines = text.trimEnd().split('\n');
  const longest = Math.max(0, ...[...byLine.keys()].map((line) => lines[line]?.length ?? 0));
  const column = Math.min(longest, WIDEST);
  const annotated = lines.map((line, i) => {
    const owners = [...(byLine.get(i) ?? [])];
    if (owners.length === 0) return screenText(line);
    const texts = owners.map((owner) => paint(ownerText(owner), colours.get(owner.name)));
    return `${screenText(line.padEnd(column))}  # ${texts.join(', ')}`;
  });
  return `${annotated.join('\n')}\n`;
}

/** The line of a field is the one of its name; that of an item is the one of its dash. */
function ownersByLine(text: string, root: YamlNode, byPointer: ReadonlyMap<string, readonly Owner[]>): Map<number, Set<Owner>> {
  const lineAt = lineNumbers(text);
  const byLine = new Map<number, Set<Owner>>();
  const note = (start: number, pointer: string): void => {
    const owners = byPointer.get(pointer);
    if (owners === undefined) return;
    const line = lineAt(start);
    byLine.set(line, new Set([...(byLine.get(line) ?? []), ...owners]));
  };
  const visit = (place: YamlNode, pointer: string): void => {
    for (const entry of place.entries) {
      const innerPointer = `${pointer}/${pointerPart(entry.key)}`;
      note(entry.start, innerPointer);
      visit(entry.place, innerPointer);
    }
    place.items.forEach((item, i) => {
      note(item.start, `${pointer}/${i}`);
      visit(item, `${pointer}/${i}`);
    });
  };
  visit(root, '');
  return byLine;
}
/** Places come in the order of the text, so that each character is looked at once. */
function lineNumbers(text: string): (offset: number) => number {
  let [line, next] = [0, text.indexOf('\n')];
  return (offset) => {
    while (next !== -1 && next < offset) {
      line++;
      next = text.indexOf('\n', next + 1);
    }
    return line;
  };
}
