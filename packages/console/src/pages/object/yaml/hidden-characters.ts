/** Characters that nobody would see are shown in the editor as on the rest of the page; the text itself stays as it is. */
import type { Extension } from '@codemirror/state';
import { highlightSpecialChars } from '@codemirror/view';

export const hiddenCharacters: Extension = highlightSpecialChars({
  specialChars: /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
  render: (code, description) => {
    const mark = document.createElement('span');
    mark.className = 'cm-specialChar';
    mark.textContent = `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
    mark.title = description ?? mark.textContent;
    return mark;
  },
});
