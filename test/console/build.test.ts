/** What `npm run build` made of the page. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { firstView, firstViewFault } from '../../scripts/build-console.mjs';
import { withoutInlineStyles } from '../../scripts/xterm-styles.mjs';

const folder = join(import.meta.dirname, '../../dist/console');

test('every file is there as it is, with Brotli and with gzip', () => {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && !/\.(br|gz)$/.test(file.name))
    .map((file) => join(file.parentPath ?? file.path, file.name));
  expect(files.length).toBeGreaterThan(10);
  for (const file of files) {
    const content = readFileSync(file);
    expect(brotliDecompressSync(readFileSync(`${file}.br`)).equals(content), file).toBe(true);
    expect(gunzipSync(readFileSync(`${file}.gz`)).equals(content), file).toBe(true);
  }
});

test('the page has no script or style of its own, and loads nothing from elsewhere', () => {
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  expect(page).not.toMatch(/<style|style=|<script(?![^>]* src=)|\son\w+=|https?:/);
  const addresses = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address as string);
  expect(addresses.length).toBeGreaterThan(1);
  for (const address of addresses) {
    expect(address).toMatch(/^\/console\/assets\/[\w-]+-[\w-]{8}\.\w+$/);
    expect(existsSync(join(folder, address.slice('/console/'.length)))).toBe(true);
  }
});

test('licences of what is bundled go along', () => {
  expect(readFileSync(join(folder, 'licences.txt'), 'utf8')).toMatch(/^preact 11[\s\S]*The MIT License[\s\S]*Jason Miller/m);
});

test('the first view is the entry, the first pages, and what they import at once', () => {
  const chunk = (fileName: string, more: object = {}) => ({ type: 'chunk' as const, fileName, imports: [], moduleIds: [], ...more });
  const page = (name: string, more: object = {}) => chunk(`${name}.js`, { facadeModuleId: `/x/src/pages/${name}/index.tsx`, ...more });
  const output = [
    chunk('main.js', { isEntry: true, imports: ['shared.js'], viteMetadata: { importedCss: new Set(['main.css']) } }),
    chunk('shared.js', { imports: ['main.js'] }),
    page('table', { imports: ['grid.js'] }),
    chunk('grid.js'),
    page('graph', { imports: ['layout.js'] }),
    chunk('layout.js'),
  ];
  expect(firstView(output).sort()).toEqual(['grid.js', 'index.html', 'main.css', 'main.js', 'shared.js', 'table.js']);
});

test('a first view of more than 250 KiB fails the build', () => {
  expect(firstViewFault([250 * 1024 - 1, 1])).toBeUndefined();
  expect(firstViewFault([250 * 1024, 1])).toBe('the first view of the console has 256001 compressed bytes, of at most 256000');
});

test('xterm.js sets styles as the policy of the page allows it, or the build fails', () => {
  const elements = 'a.doc.createElement("style");b.createElement("style");c.createElement("style");';
  const attribute = `t.setAttribute("style",\`\${t.getAttribute("style")||""}\${e};\`)`;
  expect(withoutInlineStyles(elements + attribute)).toMatch(/;styleNode\(a\.doc\);styleNode\(b\);styleNode\(c\);t\.style\.cssText\+=e$/);
  expect(() => withoutInlineStyles(attribute)).toThrow('0 places');
  expect(() => withoutInlineStyles(elements)).toThrow('0 places');
  expect(() => withoutInlineStyles(`${elements}${attribute};x.setAttribute("style",y)`)).toThrow('a place that is not known');
});
