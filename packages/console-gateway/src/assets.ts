/** The files of the page: those with a hash in their name never change, and are there in compressed forms as well. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import { fileURLToPath } from 'node:url';
import { contentTypeOf } from '@plat-dev/lib/files/content-type';
import { type BrowserRequest, type BrowserResponse, headerOf, send } from './exchange.ts';

const HTML = 'text/html; charset=utf-8';
/** A name within the folder, without any that leads out of it or is hidden. */
const fileName = /^(?:assets\/)?[\w-]+(?:\.[\w-]+)+$/;
const ASSETS = 'assets/';

/** Reads a file of the page by its path, such as `assets/main-HASH.js.br`; undefined: there is none. */
type PageFiles = (path: string) => Promise<Buffer | undefined>;

export const filesOf =
  (directory: string): PageFiles =>
  (path) =>
    readFile(join(directory, path)).catch(() => undefined);

/** The files that `npm run build` makes. In the executable they are assets of it. */
export const builtFiles = (): PageFiles => (isSea() ? filesInExecutable : filesOf(builtDirectory()));

const filesInExecutable: PageFiles = async (path) => {
  try {
    return Buffer.from(getAsset(`console/${path}`));
  } catch {
    return undefined;
  }
};

/** Beside the chunks of the program, or in `dist` of the sources. */
function builtDirectory(): string {
  const places = ['../console/', '../../../dist/console/'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  return places.find((place) => existsSync(`${place}index.html`)) ?? (places[0] as string);
}

/** Sends the file of a path below `/console/`, else the page itself, which has its own paths. */
export async function sendAsset(files: PageFiles, path: string, request: BrowserRequest, response: BrowserResponse): Promise<void> {
  const isAsset = path.startsWith(ASSETS);
  const type = contentTypeOf(path);
  const isFile = type !== undefined && fileName.test(path);
  if (isFile && (await sendFile(files, path, type, isAsset, request, response))) return;
  if (isAsset) send(request, response, 404, plainText, 'there is no such file of the console\n');
  else if (!(await sendFile(files, 'index.html', HTML, false, request, response)))
    send(request, response, 503, plainText, 'the console is not part of this build: `npm run build` makes it\n');
}
const plainText = ['Content-Type', 'text/plain; charset=utf-8', 'Cache-Control', 'no-store'];

async function sendFile(
  files: PageFiles,
  path: string,
  type: string,
  isAsset: boolean,
  request: BrowserRequest,
  response: BrowserResponse,
): Promise<boolean> {
  const accepted = headerOf(request, 'accept-encoding') ?? '';
  const caching = [
    'Content-Type',
    type,
    'Cache-Control',
    isAsset ? 'public, max-age=31536000, immutable' : 'no-cache',
    'Vary',
    'Accept-Encoding',
  ];
  for (const [encoding, suffix] of encodings) {
    if (encoding !== '' && !new RegExp(`\\b${encoding}\\b(?!\\s*;\\s*q=0(\\.0*)?\\s*(,|$))`).test(accepted)) continue;
    const bytes = await files(`${path}${suffix}`);
    if (bytes === undefined) continue;
    send(request, response, 200, encoding === '' ? caching : [...caching, 'Content-Encoding', encoding], bytes);
    return true;
  }
  return false;
}
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
  ['', ''],
] as const;

/** What browsers get at `/`, in place of an answer of the API. */
export function sendWelcome(request: BrowserRequest, response: BrowserResponse): void {
  send(request, response, 200, ['Content-Type', HTML, 'Cache-Control', 'no-store', 'Vary', 'Accept'], welcome);
}
const welcome = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>plat</title></head>
<body>
<h1>plat</h1>
<p>This is an API server. <a href="/console/">Open the console</a> to see what it serves.</p>
</body>
</html>
`;
