/** Tokenizes the text of a label selector. */
export interface Token {
  /** The sign itself, `word` for everything else, `end` after the last. */
  readonly type: 'word' | 'end' | '!' | '=' | '==' | '!=' | '>' | '<' | '(' | ')' | ',';
  readonly text: string;
}
const piece = /[ \t\r\n]*(?:(==|!=|[!=<>(),])|([^ \t\r\n!=<>(),]+)|$)/y;

/** The tokens of a query, the last of type `end`. Every text can be tokenized; the parser reports errors. */
export function scanLabelQuery(text: string): Token[] {
  const tokens: Token[] = [];
  piece.lastIndex = 0;
  for (;;) {
    const match = piece.exec(text);
    if (match === null || (match[1] === undefined && match[2] === undefined)) break;
    if (match[1] !== undefined) tokens.push({ type: match[1] as Token['type'], text: match[1] });
    else tokens.push({ type: 'word', text: match[2] as string });
  }
  tokens.push({ type: 'end', text: '' });
  return tokens;
}
