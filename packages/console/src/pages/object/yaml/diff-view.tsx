/** The differences of two texts of YAML, lines in common left out. */
import { yaml } from '@codemirror/lang-yaml';
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'preact/hooks';
import { editorTheme } from './editor-theme.ts';
import { hiddenCharacters } from './hidden-characters.ts';

export interface DiffViewProps {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}

export function DiffView({ before, after, label }: DiffViewProps) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = host.current;
    if (element === null) return undefined;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: after,
        extensions: [
          lineNumbers(),
          yaml(),
          hiddenCharacters,
          editorTheme,
          EditorState.readOnly.of(true),
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          unifiedMergeView({
            original: before,
            mergeControls: false,
            collapseUnchanged: { margin: 3, minSize: 6 },
            // A long line is compared as a whole.
            diffConfig: { scanLimit: 1000, timeout: 500 },
          }),
        ],
      }),
    });
    return () => view.destroy();
  }, [before, after, label]);
  return <div ref={host} class="diff-view" data-own-keys />;
}
