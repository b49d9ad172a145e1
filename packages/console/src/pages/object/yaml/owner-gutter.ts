/** Who owns the field of each line, beside it. */
import { type Extension, RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import { GutterMarker, gutter } from '@codemirror/view';
import { type FieldOwner, ownersByLine } from './owner-lines.ts';

class OwnerMarker extends GutterMarker {
  readonly owners: readonly FieldOwner[];

  constructor(owners: readonly FieldOwner[]) {
    super();
    this.owners = owners;
  }

  override eq(other: OwnerMarker): boolean {
    return this.#text() === other.#text();
  }

  override toDOM(): HTMLElement {
    const mark = document.createElement('span');
    mark.textContent = this.owners.map(({ manager }) => manager).join(', ');
    mark.title = this.owners.map(({ title }) => title).join('\n');
    return mark;
  }

  #text(): string {
    return this.owners.map(({ title }) => title).join();
  }
}

/** The object as the server has it, with its managedFields. */
export const setOwners = StateEffect.define<unknown>();

/** Owners of the text as it was read; they move with their lines while somebody types. */
export function ownerGutter(): Extension {
  const markers = StateField.define({
    create: () => new RangeSetBuilder<GutterMarker>().finish(),
    update: (set, transaction) => {
      for (const effect of transaction.effects)
        if (effect.is(setOwners)) {
          const builder = new RangeSetBuilder<GutterMarker>();
          for (const [line, owners] of ownersByLine(transaction.state.doc.toString(), effect.value)) {
            if (line > transaction.state.doc.lines) break;
            const { from } = transaction.state.doc.line(line);
            builder.add(from, from, new OwnerMarker(owners));
          }
          return builder.finish();
        }
      return set.map(transaction.changes);
    },
  });
  return [markers, gutter({ class: 'cm-field-owners', side: 'after', markers: (view) => view.state.field(markers) })];
}
