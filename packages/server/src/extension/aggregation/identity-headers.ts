/**
 * How an aggregated server learns the user: from headers, which it trusts because the connection shows the
 * certificate of this proxy. The names are part of the stock API, and published for servers that read them there.
 */
import type { User } from '../../auth/types.ts';

export const identityHeaderNames = { user: 'X-Remote-User', group: 'X-Remote-Group', extra: 'X-Remote-Extra-' } as const;

/** Names and values, alternating. Throws if a name holds control characters. */
export function identityHeaders({ name, groups, extra = {} }: User): string[] {
  const headers = [identityHeaderNames.user, headerValue(name)];
  for (const group of groups) headers.push(identityHeaderNames.group, headerValue(group));
  for (const [key, values] of Object.entries(extra)) {
    const header = `${identityHeaderNames.extra}${escapedKey(key)}`;
    for (const value of values) headers.push(header, headerValue(value));
  }
  return headers;
}

/** Headers are bytes: texts beyond ASCII go as UTF-8, one character a byte. */
function headerValue(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these would end the header, and what follows would be another.
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(text)) throw new Error('the name of the user, a group or an extra field holds control characters');
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** Bytes that the name of a header cannot hold are written as in addresses: `example.com/role` → `example.com%2Frole`. */
function escapedKey(key: string): string {
  let escaped = '';
  for (const byte of Buffer.from(key, 'utf8')) {
    const character = String.fromCharCode(byte);
    const plain = character !== '%' && /[!#$&'*+\-.^_`|~0-9A-Za-z]/.test(character);
    escaped += plain ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return escaped;
}
