/**
 * The files of `plat proxy --www`, as the stock client serves them:
 *
 *   site/        →  its index.html, or a list of what is in it
 *   site         →  to site/, if that is a directory
 *   ../x, links  →  not found where they lead out of the directory
 */

import { createReadStream } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { basename, join, sep } from 'node:path';
import { pipeline } from 'node:stream';
import { contentTypeOf } from '@plat-dev/lib/files/content-type';
import { own } from '@plat-dev/lib/own';

/** Names of a list; more are left out. */
const MAX_NAMES = 10_000;

/** Sends the file or directory at the path below `directory`; false if there is none. */
export async function sendFile(directory: string, path: string, response: ServerResponse): Promise<boolean> {
  const root = await realpath(directory);
  const realFile = await realpath(join(root, path)).catch(() => undefined);
  if (realFile === undefined || (realFile !== root && !realFile.startsWith(`${root}${sep}`))) return false;
  const facts = await stat(realFile);
  if (!facts.isDirectory()) return facts.isFile() && !path.endsWith('/') && send(realFile, response);
  if (path !== '' && !path.endsWith('/')) {
    response.writeHead(301, { location: `${encodeURIComponent(basename(path))}/` }).end();
    return true;
  }
  if (await sendFile(directory, `${path}index.html`, response)) return true;
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(await listOf(realFile));
  return true;
}

function send(file: string, response: ServerResponse): true {
  response.writeHead(200, { 'content-type': contentTypeOf(file) ?? 'application/octet-stream' });
  pipeline(createReadStream(file), response, () => {});
  return true;
}

async function listOf(directory: string): Promise<string> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`).sort();
  // A name with a colon would be read as an address.
  const link = (name: string): string => `<a href="./${encodeURIComponent(name).replace('%2F', '/')}">${escaped(name)}</a>\n`;
  return `<pre>\n${names.slice(0, MAX_NAMES).map(link).join('')}</pre>\n`;
}
const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (c) => own(escapes, c) as string);
