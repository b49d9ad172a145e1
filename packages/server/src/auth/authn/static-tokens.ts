/** Tokens of a file: `token,user,uid,"group1,group2"`, one per line, in CSV. */
import { secretKey } from '../secret.ts';
import type { TokenAuthenticator, TokenResult } from '../types.ts';

/** Records of a CSV text: fields may be quoted, a doubled quote within stands for one, quoted fields may span lines. */
export function parseCsv(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let at = 0;
  const endRecord = () => {
    if (record.length > 1 || (record[0] ?? '') !== '') records.push(record);
    record = [];
  };
  while (at < text.length) {
    let field = '';
    if (text[at] === '"') {
      const parts = /"((?:[^"]|"")*)"/y;
      parts.lastIndex = at;
      const quoted = parts.exec(text);
      if (quoted === null) throw new Error(`record ${records.length + 1}: a quoted field does not end`);
      field = (quoted[1] as string).replaceAll('""', '"');
      at = parts.lastIndex;
      if (at < text.length && !/[,\r\n]/.test(text[at] as string)) {
        throw new Error(`record ${records.length + 1}: text after a quoted field`);
      }
    } else {
      const end = text.slice(at).search(/[,\n]/);
      field = end === -1 ? text.slice(at) : text.slice(at, at + end);
      at += field.length;
      if (text[at] !== ',') field = field.replace(/\r$/, '');
    }
    record.push(field);
    if (text[at] === ',') {
      at++;
      if (at === text.length) record.push('');
      continue;
    }
    while (text[at] === '\r') at++;
    at++;
    endRecord();
  }
  endRecord();
  return records;
}

/** Parses the file's text. A record with fewer than three fields is an error; one without a token is skipped. */
export function staticTokens(csv: string): TokenAuthenticator {
  const users = new Map<string, TokenResult>();
  parseCsv(csv).forEach((record, i) => {
    const [token = '', name = '', uid = '', groups] = record;
    if (record.length < 3) {
      throw new Error(`record ${i + 1} must have at least 3 fields (token, user name, user uid), found ${record.length}`);
    }
    if (token === '') return;
    if (name === '') throw new Error(`record ${i + 1} has no user name`);
    // As with stock servers a field that is empty names the group without a name, to which no right can be given.
    const names = groups === undefined ? [] : groups.split(',').map((group) => group.trim());
    users.set(secretKey(token), { user: { name, ...(uid !== '' && { uid }), groups: names } });
  });
  return { name: 'static-token', authenticateToken: (token) => users.get(token.key) };
}
