/** The editor of a text of YAML. It stands in a shadow root, where its style sheets need no exception of the Content-Security-Policy. */
import { closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, foldGutter, foldKeymap, indentUnit } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from '@codemirror/view';
import type { Schema } from '../openapi/schema.ts';
import { editorTheme } from './editor-theme.ts';
import { hiddenCharacters } from './hidden-characters.ts';
import { ownerGutter, setOwners } from './owner-gutter.ts';
import { schemaHelp } from './schema-help.ts';

/** Where there is room for owners beside the lines. */
const WIDE = '(min-width: 801px)';

export interface EditorOptions {
  readonly host: HTMLElement;
  readonly text: string;
  readonly label: string;
  readonly isReadOnly: boolean;
  readonly schema: () => Schema | undefined;
  readonly onChange: (text: string) => void;
  readonly onSave: () => void;
}

export interface Editor {
  readonly text: string;
  /** Replaces what differs, so that the cursor and the place stay. */
  setText(text: string): void;
  setReadOnly(isReadOnly: boolean): void;
  /** Owners of fields, from an object with its managedFields. */
  setOwners(object: unknown): void;
  /** What the server said, until the text changes. */
  setFaults(faults: readonly Diagnostic[]): void;
  focus(): void;
  close(): void;
}

export function createEditor({ host, text, label, isReadOnly, schema, onChange, onSave }: EditorOptions): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const writing = new Compartment();
  let serverFaults: readonly Diagnostic[] = [];
  const changed = (next: string): void => {
    serverFaults = [];
    onChange(next);
  };
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        ...editing(onSave),
        schemaHelp(schema, () => serverFaults),
        ...(window.matchMedia(WIDE).matches ? [ownerGutter()] : []),
        writing.of(EditorState.readOnly.of(isReadOnly)),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
      ],
    }),
  });
  return {
    get text() {
      return view.state.doc.toString();
    },
    setText: (next) => view.dispatch({ changes: differingPart(view.state.doc.toString(), next) }),
    setReadOnly: (value) => view.dispatch({ effects: writing.reconfigure(EditorState.readOnly.of(value)) }),
    setOwners: (object) => view.dispatch({ effects: setOwners.of(object) }),
    setFaults: (faults) => {
      serverFaults = faults;
      view.dispatch(setDiagnostics(view.state, faults));
    },
    focus: () => view.focus(),
    close: () => view.destroy(),
  };
}

function editing(onSave: () => void): Extension[] {
  const save = (): boolean => {
    onSave();
    return true;
  };
  return [
    lineNumbers(),
    foldGutter(),
    lintGutter(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    history(),
    drawSelection(),
    hiddenCharacters,
    bracketMatching(),
    closeBrackets(),
    highlightSelectionMatches(),
    EditorState.tabSize.of(2),
    indentUnit.of('  '),
    yaml(),
    editorTheme,
    keymap.of([
      { key: 'Mod-s', run: save, preventDefault: true },
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...foldKeymap,
      ...completionKeymap,
      ...lintKeymap,
    ]),
  ];
}

/** The part between what two texts have in common at their beginning and end. */
function differingPart(from: string, to: string): { from: number; to: number; insert: string } {
  const shorter = Math.min(from.length, to.length);
  let start = 0;
  while (start < shorter && from[start] === to[start]) start++;
  let end = 0;
  while (end < shorter - start && from[from.length - 1 - end] === to[to.length - 1 - end]) end++;
  return { from: start, to: from.length - end, insert: to.slice(start, to.length - end) };
}
