/** Text of the API as it is shown: characters that nobody would see, or that would turn the order of others, become visible marks. */

/** Control characters but tab and line end, marks of direction, what has no width, separators of lines, and letters that are blank. */
const hidden = /(?![\t\n])(?:[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|\u034f)/gu;

/** `a\u202eb` is shown as `a⟨U+202E⟩b`. */
export function visibleText(text: string): string {
  return text.replace(hidden, (character) => `⟨U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/** The beginning of a long text, whole characters of it. */
export function shortText(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const end = /[\ud800-\udbff]$/.test(text.slice(0, longest)) ? longest - 1 : longest;
  return `${text.slice(0, end)}…`;
}
