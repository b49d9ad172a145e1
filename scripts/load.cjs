/**
 * Loads a bundle that lies beside this file, together with the code that was compiled from it when it was built: `bundle` is
 * everything, `cli` the commands of a client, `get` the one of them that is run most, `schemas` the built-in kinds for them.
 *
 * Compiling is the larger part of a start, and what a start compiles is the same every time. Compiled code fits one version
 * of Node on one kind of machine, which its name tells, and one bundle, which a digest tells. Where there is none that fits,
 * everything is compiled anew. A script itself, so that both kinds of modules can load it.
 */
'use strict';
const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname, join } = require('node:path');
const { Script } = require('node:vm');

const fileOf = (name) => join(__dirname, `${name}.cjs`);
/** The engine itself leaves aside what was made under other flags. */
const compiledFile = (name) => `${fileOf(name)}.${process.platform}-${process.arch}-${process.versions.v8}`;
const DIGEST_BYTES = 32;

/** The oldest version of Node that has all that is used. */
const OLDEST_NODE = [20, 12];

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [oldest, least] = OLDEST_NODE;
  if (major > oldest || (major === oldest && minor >= least)) return;
  throw new Error(`Node ${oldest}.${least} or newer is needed; this is ${process.versions.node}`);
}

const loaded = new Map();

/** What the bundle exports: the same for all who load it. */
function load(name = 'bundle') {
  if (!loaded.has(name)) loaded.set(name, evaluateBundle(name));
  return loaded.get(name);
}

function evaluateBundle(name) {
  checkNode();
  const file = fileOf(name);
  // Node maps the lines of stack traces only where it loads a module itself.
  if (process.sourceMapsEnabled) return createRequire(file)(file);
  const source = readFileSync(file);
  return evaluate(file, compile(file, source, readCompiled(name, source)));
}

/** Prefers what was compiled before; the engine leaves it aside where it was made by another. Bundles are ASCII. */
function compile(file, source, cachedData) {
  const begin = '(function (exports, require, module, __filename, __dirname) {';
  return new Script(`${begin}${source.latin1Slice()}\n})`, { filename: file, columnOffset: -begin.length, cachedData });
}

function evaluate(file, script) {
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
  return module.exports;
}

/** The engine believes what it reads, so that it is given nothing that was cut short or belongs to another bundle. */
function readCompiled(name, source) {
  try {
    const bytes = readFileSync(compiledFile(name));
    const compiled = bytes.subarray(DIGEST_BYTES);
    return digest(source, compiled).equals(bytes.subarray(0, DIGEST_BYTES)) ? compiled : undefined;
  } catch {
    return undefined;
  }
}

const digest = (source, compiled) => createHash('sha256').update(source).update(compiled).digest();

/** For the build: what the bundle exports, and a function that answers the content of its compiled file, of all that ran so far. */
function loadToCompile(name) {
  const file = fileOf(name);
  const source = readFileSync(file);
  const script = compile(file, source);
  const compiled = () => {
    const bytes = script.createCachedData();
    return Buffer.concat([digest(source, bytes), bytes]);
  };
  return { exports: evaluate(file, script), compiled };
}

exports.compiledFile = compiledFile;
exports.load = load;
exports.loadToCompile = loadToCompile;
