/**
 * Builds dist/ of every package that may be installed alone: a module and its declarations for each source file. The bundle of
 * `@plat-dev/plat` (scripts/build.mjs) needs none of it.
 *
 *   npm run build:packages
 *   npm pack -w packages/kinds      builds first, too
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packages } from './workspaces.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiled = join(root, 'node_modules', '.cache', `packages-${process.pid}`);
const names = [...packages.keys()].filter((name) => packages.get(name).private !== true);

const project = `${compiled}.json`;
mkdirSync(join(root, 'node_modules', '.cache'), { recursive: true });
writeFileSync(project, JSON.stringify(settings()));
try {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [compiler, '-p', project], { stdio: 'inherit' });
  for (const name of names) {
    const dist = join(root, 'packages', name, 'dist');
    rmSync(dist, { recursive: true, force: true });
    renameSync(join(compiled, name, 'src'), dist);
    cpSync(join(root, 'LICENSE'), join(dist, 'LICENSE'));
  }
} finally {
  rmSync(project);
  rmSync(compiled, { recursive: true, force: true });
}

/** Tests and what is there for them are not packed. */
function settings() {
  const sources = join(root, 'packages');
  return {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { noEmit: false, declaration: true, rewriteRelativeImportExtensions: true, rootDir: sources, outDir: compiled },
    include: names.map((name) => join(sources, name, 'src')),
    exclude: ['test', 'testing'].map((part) => join(sources, '**', `*.${part}.ts`)),
  };
}
