/** `example.com/*:broken`: parts between stars are found one after another. */
export function isLike(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const partAt = text.indexOf(part, at);
    if (partAt < 0) return false;
    at = partAt + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
