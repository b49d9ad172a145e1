/**
 * Builds dist/: plat.js (the program), index.* (for embedding), testing.* (for tests), etcd.cjs (for `plat envtest`) and
 * console/ (the page, see build-console.mjs).
 * scripts/types.mjs adds type declarations.
 *
 * The entries for `import` hand on what those for `require` export.
 */
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { consoleFiles } from './build-console.mjs';
import { bundledScripts } from './bundled-scripts.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

/** What package.json exports, each for `import` and `require`. */
const library = {
  index: 'packages/compose/src/index.ts',
  testing: 'packages/testing/src/index.ts',
  'testing-vitest': 'packages/testing/src/runners/vitest.ts',
  'testing-jest': 'packages/testing/src/runners/jest.ts',
  'testing-node': 'packages/testing/src/runners/node.ts',
};
const page = consoleFiles();
const programs = { plat: 'packages/cli/src/main.ts', etcd: 'packages/cli/src/envtest/etcd-program.ts' };

// Dependencies are loaded from where npm puts them, packages of this repository are part of the bundle.
const output = await bundledScripts({ input: { ...programs, ...library }, external: /^(?!@plat-dev\/)[^./]/ });

const files = new Map(output.map((file) => [file.fileName, file.type === 'chunk' ? file.code : file.source]));
// The package has modules, its bundles are scripts.
files.set('package.json', '{ "type": "commonjs" }\n');
for (const name of Object.keys(library)) {
  const { exports } = output.find(({ fileName }) => fileName === `${name}.cjs`);
  files.set(`${name}.mjs`, `import loaded from './${name}.cjs';\n\nexport const { ${exports.join(', ')} } = loaded;\n`);
}
for (const [name, content] of await page) files.set(`console/${name}`, content);
await write(files);

/** A server that runs from here finds the chunks that it has not loaded yet, as long as they are the same. */
async function write(files) {
  for (const folder of ['chunks', 'console/assets']) await mkdir(join(dist, folder), { recursive: true });
  const older = await readdir(dist, { recursive: true, withFileTypes: true });
  const paths = older.filter((file) => file.isFile()).map((file) => join(file.parentPath ?? file.path, file.name));
  const wanted = new Set([...files.keys()].map((name) => join(dist, name)));
  await Promise.all(paths.filter((path) => !wanted.has(path)).map((path) => rm(path)));
  await Promise.all([...files].map(([name, content]) => writeFile(join(dist, name), content)));
  await chmod(join(dist, 'plat.js'), 0o755);
}
