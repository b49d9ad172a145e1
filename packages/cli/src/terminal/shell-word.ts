/** A word of a command line of sh, whatever is in it: `it's` → `'it'\''s'` */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
