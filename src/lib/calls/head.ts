/** The head of a request to another service. */

/**
 * Everything up to the blank line. Throws if a part contains a line break, which would begin another
 * header.
 */
export function requestHead(method: string, path: string, headers: Readonly<Record<string, string | readonly string[]>>): string {
  if (!/^\/[!-~]*$/.test(path)) throw new Error('the path holds characters that cannot be sent');
  let head = `${method} ${path} HTTP/1.1\r\n`;
  for (const [name, values] of Object.entries(headers)) {
    for (const value of typeof values === 'string' ? [values] : values) {
      if (!/^[\t -~\x80-\xff]*$/.test(value)) throw new Error(`the header ${name} holds characters that cannot be sent`);
      head += `${name}: ${value}\r\n`;
    }
  }
  return head;
}
