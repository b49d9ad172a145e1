/** The look of the editor: the colours of the page, which differ in light and dark. */
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.content], color: 'var(--text)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--text-quiet)', fontStyle: 'italic' },
  { tag: [tags.keyword, tags.typeName, tags.labelName], color: 'var(--busy)' },
  { tag: [tags.separator, tags.punctuation, tags.squareBracket, tags.brace], color: 'var(--text-quiet)' },
]);

const look = EditorView.theme({
  '&': { backgroundColor: 'var(--back)', color: 'var(--text)', fontSize: '13px', height: '100%' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '20px', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--back-raised)', color: 'var(--text-quiet)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--back-hover) 50%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--back-selected)',
  },
  '.cm-panels, .cm-tooltip': { backgroundColor: 'var(--back)', color: 'var(--text)', border: '1px solid var(--line)' },
  '.cm-tooltip': { borderRadius: '4px', boxShadow: 'var(--shadow)', maxWidth: 'min(480px, 90vw)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--back-selected)', color: 'var(--text)' },
  '.cm-completionInfo': { padding: '8px', whiteSpace: 'pre-wrap' },
  '.cm-completionDetail': { color: 'var(--text-quiet)', fontStyle: 'normal', marginLeft: '12px' },
  '.cm-hint': { padding: '8px', font: '14px/20px system-ui, sans-serif', overflowWrap: 'anywhere' },
  '.cm-hint p': { margin: '0 0 4px' },
  '.cm-hint .quiet': { color: 'var(--text-quiet)' },
  '.cm-specialChar': { color: 'var(--bad)' },
  '.cm-diagnostic': { font: '14px/20px system-ui, sans-serif', overflowWrap: 'anywhere' },
  '.cm-field-owners .cm-gutterElement': {
    maxWidth: '160px',
    overflow: 'hidden',
    padding: '0 8px',
    textOverflow: 'ellipsis',
    whiteSpace: 'nowrap',
    fontSize: '12px',
  },
  '.cm-changedLine': { backgroundColor: 'color-mix(in srgb, var(--good) 14%, transparent) !important' },
  '.cm-deletedChunk': { backgroundColor: 'color-mix(in srgb, var(--bad) 14%, transparent)', paddingLeft: '6px' },
  '.cm-changedText, &.cm-merge-b .cm-changedText': { background: 'color-mix(in srgb, var(--good) 30%, transparent)' },
  '.cm-deletedChunk .cm-deletedText': { background: 'color-mix(in srgb, var(--bad) 30%, transparent)' },
  '.cm-deletedLine, .cm-deletedLine del': { textDecoration: 'none' },
  '.cm-collapsedLines': {
    background: 'var(--back-raised)',
    color: 'var(--text-quiet)',
    // The usual sign is missing in most fonts.
    '&:before, &:after': { content: '"⋯"' },
  },
  '.cm-panel.cm-search': { fontSize: '14px' },
  '.cm-button': { backgroundImage: 'none', backgroundColor: 'var(--back)', color: 'var(--text)', border: '1px solid var(--line-field)' },
  '.cm-textfield': { backgroundColor: 'var(--back)', color: 'var(--text)', border: '1px solid var(--line-field)' },
});

export const editorTheme: Extension = [look, syntaxHighlighting(colours)];
