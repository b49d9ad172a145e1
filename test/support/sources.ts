/** The files of all packages, by package and path: `kinds/core/pod.ts` is packages/kinds/src/core/pod.ts. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { packages } from '../../scripts/workspaces.mjs';

const root = join(import.meta.dirname, '../../packages');

export const sourceFiles: readonly string[] = [...packages.keys()].flatMap((name) =>
  readdirSync(join(root, name, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => `${name}/${file.replaceAll(sep, '/')}`)
    .sort(),
);
/** Those that are part of the product. */
export const productFiles: readonly string[] = sourceFiles.filter(
  (file) => !/\.(test|testing)\.ts$|\.suite(\.\w+)*\.ts$|\/testing\.ts$/.test(file),
);

export const readSource = (file: string): string => readFileSync(join(root, file.replace('/', '/src/')), 'utf8');
