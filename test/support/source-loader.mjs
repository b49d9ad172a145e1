/** Makes the process of a worker load modules as compiled-source.ts left them. Without effect where nothing is compiled. */
import { register } from 'node:module';
import { pathToFileURL } from 'node:url';

const compiled = process.env.PLAT_TEST_COMPILED;
if (compiled !== undefined) {
  const root = new URL('../../', import.meta.url).href;
  register('./source-hooks.mjs', import.meta.url, { data: { root, compiled: pathToFileURL(`${compiled}/`).href } });
}
