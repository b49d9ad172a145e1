/** The code of a TypeScript text: what stands in comments, texts and regular expressions is blank, lines stay where they are. */

/** A slash after one of these begins a regular expression; after anything else it divides. */
const beforeRegex = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|void|delete|await|yield))\s*$/;

/** Characters that begin and end nothing. */
const ordinary = /[^/'"`{}]+/y;

export function codeOnly(text: string): string {
  let out = '';
  /** Of each template that is open: the braces open within its current `${`. */
  const templates: number[] = [];
  let at = 0;
  /** Blanks what is skipped, except for line ends. */
  const skipTo = (end: number): void => {
    out += text.slice(at, end).replace(/[^\n]/g, ' ');
    at = end;
  };
  const endOf = (pattern: RegExp): number => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) return pattern.sticky ? at + 1 : text.length;
    return found.index + found[0].length;
  };
  /** From within a template to its end, or to the `{` of an expression. */
  const skipTemplate = (): void => {
    skipTo(endOf(/(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{|$)/g));
    if (text[at - 1] === '{') templates.push(0);
  };
  while (at < text.length) {
    ordinary.lastIndex = at;
    const plain = ordinary.exec(text);
    if (plain !== null) {
      out += plain[0];
      at = ordinary.lastIndex;
      continue;
    }
    const two = text.slice(at, at + 2);
    const one = text[at] as string;
    const open = templates.length - 1;
    if (two === '//') skipTo(endOf(/[^\n]*/g));
    else if (two === '/*') skipTo(endOf(/\*\//g));
    else if (one === "'" || one === '"') skipTo(endOf(one === "'" ? /'(?:[^'\\\n]|\\[\s\S])*'?/y : /"(?:[^"\\\n]|\\[\s\S])*"?/y));
    else if (one === '/' && beforeRegex.test(out.slice(-40))) skipTo(endOf(/\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y));
    else if (one === '`') {
      skipTo(at + 1);
      skipTemplate();
    } else if (one === '}' && open >= 0 && templates[open] === 0) {
      templates.pop();
      skipTo(at + 1);
      skipTemplate();
    } else {
      if (open >= 0 && one === '{') (templates[open] as number)++;
      if (open >= 0 && one === '}') (templates[open] as number)--;
      out += one;
      at++;
    }
  }
  return out;
}
