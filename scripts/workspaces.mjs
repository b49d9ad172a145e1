/** The packages of this repository, and the sources that their names lead to: programs here run without packed files. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What the package.json of each says, by the name of its folder. */
export const packages = new Map(
  readdirSync(join(root, 'packages'))
    .sort()
    .map((name) => [name, JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'))]),
);

/** The source of `@plat-dev/kinds/meta`, below the root; undefined: no package here exports it. */
export function sourceOf(specifier) {
  const [, name, path] = /^@plat-dev\/([^/]+)(\/.+)?$/.exec(specifier) ?? [];
  const exported = packages.get(name)?.exports ?? {};
  const entry = exported[`.${path ?? ''}`] ?? (path === undefined ? undefined : exported['./*']);
  const source = typeof entry === 'string' ? entry : entry?.source;
  return source && `packages/${name}${source.slice(1).replace('*', path?.slice(1))}`;
}

/** For esbuild: packages of this repository become part of a bundle, also where all others stay outside. */
export const bundledPackages = {
  name: 'bundled-packages',
  setup({ onResolve }) {
    onResolve({ filter: /^@plat-dev\// }, ({ path }) => ({ path: join(root, sourceOf(path)) }));
  },
};
