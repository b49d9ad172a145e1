/** The code of xterm.js, which sets styles by style sheets and properties. Throws where it sets them at places that are not known. */
export function withoutInlineStyles(code: string): string;
