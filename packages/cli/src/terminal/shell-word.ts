/** A word of a command line of sh, whatever is in it: `it's` → `'it'\''s'` */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
/** The same for people to read: quoted only where it must be. */
export const shellWord = (text: string): string => (/^[\w./:@%+=,-]+$/.test(text) ? text : shellQuoted(text));
