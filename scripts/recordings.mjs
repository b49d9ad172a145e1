// Packs what was recorded of a stock server into test/recordings, one compressed file a subject:
//   node scripts/recordings.mjs DIRECTORY [OUT]
// DIRECTORY has parity/ (conversations and what replays them), parity-1.36/ (those of another release), fixtures/wire/ (objects as
// JSON and as bytes) and api-facts/, with facts of later releases in api-facts/releases/. A subject that DIRECTORY does not have stays as it is.
// A packed file is an object of path → text, or path → { base64 } where the bytes are no text.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

const subjects = {
  parity: 'parity',
  'parity-1.36': 'parity-1.36',
  wire: 'fixtures/wire',
  'wire-1.36': 'fixtures/wire-1.36',
  'api-facts': 'api-facts',
  'release-facts': 'api-facts/releases',
};
/** Files of a subject, where only some are packed; of others everything but texts for people is. */
const chosenFiles = { 'release-facts': ['bootstrap-rbac.md'] };
const isPacked = (subject, name) => chosenFiles[subject]?.includes(name) ?? !name.endsWith('.md');

const [directory, out = resolve(import.meta.dirname, '../test/recordings')] = process.argv.slice(2);
if (directory === undefined) {
  console.error('usage: node scripts/recordings.mjs DIRECTORY [OUT]');
  process.exit(2);
}

/** Certificates of the recorded server are no part of a repository, and no test depends on what they hold. */
const withoutCertificates = (text) =>
  text.replace(/-----BEGIN CERTIFICATE-----\\n(?:[A-Za-z0-9+/=]|\\n)*-----END CERTIFICATE-----\\n/g, '<certificate>');

function contentOf(file, subject) {
  const bytes = readFileSync(file);
  const text = bytes.toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(bytes) || text.includes('\0')) return { base64: bytes.toString('base64') };
  return subject === 'api-facts' ? withoutCertificates(text) : text;
}

mkdirSync(out, { recursive: true });
for (const [subject, folder] of Object.entries(subjects)) {
  const from = join(directory, folder);
  if (!existsSync(from)) continue;
  const files = readdirSync(from, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && isPacked(subject, entry.name))
    .map((entry) => relative(from, join(entry.parentPath, entry.name)))
    .sort();
  const packed = gzipSync(JSON.stringify(Object.fromEntries(files.map((file) => [file, contentOf(join(from, file), subject)]))), {
    level: 9,
  });
  writeFileSync(join(out, `${subject}.json.gz`), packed);
  console.log(`${subject}.json.gz: ${files.length} files, ${packed.length} bytes`);
}
