/** Changes of fields, one line each. */
import { shortText, visibleText } from '../../../parts/visible-text.ts';
import type { FieldPath } from '../openapi/schema.ts';
import { fieldText } from './field-path.ts';
import type { Change } from './merge-values.ts';

/** More are counted. */
const SHOWN = 30;

export function ChangeList({ changes }: { readonly changes: readonly Change[] }) {
  return (
    <ul class="changes">
      {changes.slice(0, SHOWN).map(({ path, before, after }) => (
        <li key={fieldText(path)}>
          <FieldName path={path} /> <ChangeText before={before} after={after} />
        </li>
      ))}
      {changes.length > SHOWN && <li class="quiet">and {changes.length - SHOWN} more</li>}
    </ul>
  );
}

export function FieldName({ path }: { readonly path: FieldPath }) {
  return <code>{shortText(visibleText(fieldText(path)), 200)}</code>;
}

function ChangeText({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  if (before === undefined)
    return (
      <span>
        added: <ins>{valueText(after)}</ins>
      </span>
    );
  if (after === undefined)
    return (
      <span>
        removed: <del>{valueText(before)}</del>
      </span>
    );
  return (
    <span>
      <del>{valueText(before)}</del> → <ins>{valueText(after)}</ins>
    </span>
  );
}

/** A value in a line; absent ones in words. */
export function valueText(value: unknown): string {
  if (value === undefined) return 'absent';
  const text =
    typeof value === 'string' ? value : JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner));
  return shortText(visibleText(text ?? ''), 120);
}
