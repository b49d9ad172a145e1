/**
 * Loads the bundle that lies beside this file, together with the code that was compiled from it when it was built.
 *
 * Compiling is the larger part of a start, and what a start compiles is the same every time. Compiled code fits one version
 * of Node on one kind of machine, which its name tells, and one bundle, which a digest tells. Where there is none that fits,
 * everything is compiled anew.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

const bundle = fileURLToPath(new URL('bundle.cjs', import.meta.url));
/** The tag stands for the engine's version and flags and for what the processor can do. */
export const compiledFile = `${bundle}.${process.platform}-${process.arch}-${cachedDataVersionTag().toString(16)}`;
const DIGEST_BYTES = 32;

/** What the bundle exports. */
export function load() {
  // Node maps the lines of stack traces only where it loads a module itself.
  if (process.sourceMapsEnabled) return createRequire(bundle)(bundle);
  const source = readFileSync(bundle);
  return evaluate(compile(source, readCompiled(source)));
}

/** Prefers what was compiled before; the engine leaves it aside where it was made by another. */
function compile(source, cachedData) {
  const begin = '(function (exports, require, module, __filename, __dirname) {';
  return new Script(`${begin}${source}\n})`, { filename: bundle, columnOffset: -begin.length, cachedData });
}

function evaluate(script) {
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(bundle), module, bundle, dirname(bundle));
  return module.exports;
}

/** The engine believes what it reads, so that it is given nothing that was cut short or belongs to another bundle. */
function readCompiled(source) {
  try {
    const bytes = readFileSync(compiledFile);
    const compiled = bytes.subarray(DIGEST_BYTES);
    return digest(source, compiled).equals(bytes.subarray(0, DIGEST_BYTES)) ? compiled : undefined;
  } catch {
    return undefined;
  }
}

const digest = (source, compiled) => createHash('sha256').update(source).update(compiled).digest();

/** For the build: what the bundle exports, and a function that answers the content of its compiled file, of all that ran so far. */
export function loadToCompile() {
  const source = readFileSync(bundle);
  const script = compile(source);
  const compiled = () => {
    const bytes = script.createCachedData();
    return Buffer.concat([digest(source, bytes), bytes]);
  };
  return { exports: evaluate(script), compiled };
}
