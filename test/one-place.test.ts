/** What is written once must not be written again elsewhere: each rule names the file that has it. */
import { expect, test } from 'vitest';
import { readSource, sourceFiles } from './support/sources.ts';

const sources = sourceFiles
  .filter((file) => !/\.(test|testing)\.ts$|\/testing\.ts$/.test(file))
  .map((file) => ({ file, lines: readSource(file).split('\n') }));

/** `file: line` of every line that a pattern matches. */
const linesWith = (pattern: RegExp, home: string): string[] =>
  sources.flatMap(({ file, lines }) =>
    file === home ? [] : lines.filter((line) => pattern.test(line)).map((line) => `${file}: ${line.trim()}`),
  );

test('an apiVersion is taken apart in meta/api-version.ts', () => {
  expect(linesWith(/apiVersion(\)| \?\? '')*\.(split|indexOf|lastIndexOf)\('\/'/i, 'meta/api-version.ts')).toEqual([]);
});

test('an apiVersion is joined in meta/api-version.ts', () => {
  const joined = /apiVersion"?: ?(`|.*\? \w*[vV]ersion : `)\$\{.*\}\/(v\d|\$\{)|[gG]roup === '' \? [\w.]*version : `/;
  for (const sample of ["apiVersion: group === '' ? version : `$GROUP/$VERSION`,", 'apiVersion: `$GROUP/v1`,'])
    expect(joined.test(sample.replace(/\$(\w+)/g, '$${$1}'))).toBe(true);
  expect(linesWith(joined, 'meta/api-version.ts')).toEqual([]);
});

test('whole numbers of protobuf are written in schema/protobuf/varint.ts', () => {
  expect(linesWith(/& (0x7fn?|127n?)\) ?\| (0x80|128)|% (0x80|128)\)? ?\| (0x80|128)/, 'schema/protobuf/varint.ts')).toEqual([
    // Identifiers of certificates, whose parts begin with the highest bits.
    expect.stringContaining('pki/der.ts: '),
  ]);
});

test('tables with a bound are made of lib/bounded-cache.ts', () => {
  expect(linesWith(/(keys|values)\(\)\.next\(\)|\.size >=? ?\w+\) (this\.)?#?\w+\.clear\(\)/, 'lib/bounded-cache.ts')).toEqual([]);
});

test('types of objects are inferred from their schemas', () => {
  const copied = linesWith(/interface \w+ extends ApiObject\b/, '').filter((line) => !/^(kinds|console)\//.test(line));
  // What is kept of a pod is made here and has another shape.
  expect(copied).toEqual(['controllers/runtime/pods.ts: export interface SlimPod extends ApiObject {']);
});

test('OpenSSL verifies certificates: what asks for a single signature or issuer is listed here', () => {
  const asking = linesWith(/\.checkIssued\(|ertificate\.verify\(|\bverifyBytes\(|\bcreateVerify\b/, '').map((line) => line.split(':')[0]);
  expect([...new Set(asking)].sort()).toEqual([
    // Tokens.
    'pki/jwt.ts',
    // Certificates that bear the name of their CA, after the refusal of OpenSSL.
    'pki/namesake.ts',
    // Requests for certificates.
    'pki/request.ts',
    // Whether the certificates of a data directory have been made by its CA.
    'pki/store.ts',
    // Which CAs the chain that OpenSSL verified can end in.
    'server/connections/client-certificates.ts',
  ]);
});
