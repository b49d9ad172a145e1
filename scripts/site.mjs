/**
 * Builds the site from docs/: `npm run docs` writes it to site/. The pages of the reference and the documents of the API browser are
 * made first, from the program's own tables.
 *
 *   npm run docs              build; dead links are errors
 *   npm run docs -- --serve   show it while pages are edited
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, createServer } from 'vitepress';
import { apiDocuments } from './site/api-documents.mjs';
import { loadTables, referencePages } from './site/reference.mjs';

const docs = fileURLToPath(new URL('../docs', import.meta.url));

const tables = await loadTables();
write(docs, await referencePages(tables));
write(join(docs, 'public'), await apiDocuments(tables));
if (process.argv.includes('--serve')) {
  const server = await createServer(docs);
  await server.listen();
  server.printUrls();
} else {
  await build(docs);
  process.exit(0);
}

function write(directory, files) {
  for (const [name, content] of files) {
    const file = join(directory, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}
