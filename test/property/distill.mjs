// Makes corpus.json of the requests of the recorded conversations, of a directory like the one that scripts/recordings.mjs packs:
//   node test/property/distill.mjs DIRECTORY
// One request is kept of those that have the same method, path and fields: names and values are changed at random anyway.
import { readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const suites = resolve(process.argv[2], 'parity/suites');
/** Longest body that is kept. */
const LONGEST_BODY = 3000;
/** Most requests that are kept; they are taken evenly from all. */
const MOST = 700;

const fill = (text) =>
  text
    .replace(/\$\{ns\}/g, 'shop')
    .replace(/\$\{id\}/g, 'x')
    .replace(/\$\{[^}]*(rv|resourceVersion)\}/gi, '7')
    .replace(/\$\{[^}]*\}/g, 'one');

/** Fields and types of a body, without its values. */
function shapeOf(value) {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${shapeOf(value[0])}]`;
  if (typeof value !== 'object' || value === null) return typeof value === 'string' ? 's' : String(value);
  return `{${Object.entries(value)
    .map(([key, one]) => `${key}:${shapeOf(one)}`)
    .sort()
    .join()}}`;
}

function requestOf(step) {
  if (typeof step?.do !== 'string' || typeof step.body === 'function') return undefined;
  if (Buffer.isBuffer(step.body) || step.body instanceof Uint8Array) return undefined;
  const space = step.do.indexOf(' ');
  const method = step.do.slice(0, space);
  const path = fill(step.do.slice(space + 1));
  const headers = Object.fromEntries(
    Object.entries(step.headers ?? {})
      .filter(([, value]) => typeof value === 'string')
      .map(([name, value]) => [name.toLowerCase(), fill(value)]),
  );
  if ('authorization' in headers || headers['content-length'] !== undefined) return undefined;
  const text = step.body === undefined ? undefined : JSON.stringify(step.body);
  // Certificates and tokens are no part of a repository: LS0t begins a PEM in base64, eyJ a token.
  if (text !== undefined && (text.length > LONGEST_BODY || /BEGIN|LS0t|eyJ/.test(text))) return undefined;
  const body = text === undefined ? undefined : JSON.parse(fill(text));
  const shape = `${method} ${path.replace(/[-.\w]*\d[-.\w]*/g, '#')} ${Object.keys(headers)} ${body === undefined ? '' : shapeOf(body)}`;
  return {
    shape,
    request: { method, path, ...(Object.keys(headers).length > 0 && { headers }), ...(body !== undefined && { body }) },
  };
}

const found = new Map();
for (const file of readdirSync(suites).sort()) {
  if (!file.endsWith('.mjs')) continue;
  const { cases = [] } = await import(join(suites, file));
  for (const { steps = [] } of cases)
    for (const step of steps) {
      const made = requestOf(step);
      if (made !== undefined && !found.has(made.shape)) found.set(made.shape, made.request);
    }
}
const all = [...found.values()];
const every = Math.max(1, all.length / MOST);
const kept = Array.from({ length: Math.min(MOST, all.length) }, (_, i) => all[Math.floor(i * every)]);
writeFileSync(join(import.meta.dirname, 'corpus.json'), `[\n${kept.map((one) => `  ${JSON.stringify(one)}`).join(',\n')}\n]\n`);
console.log(`${kept.length} of ${all.length} requests`);
