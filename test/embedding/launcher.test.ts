/** The first line of the program is for the shell: which flags and variables Node is started with. */
import { execFileSync } from 'node:child_process';
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../src/lib/temporary.testing.ts';
import { programDirectory, programMissing } from '../support/program.ts';

describe.skipIf(programMissing !== undefined)('the launcher', () => {
  const directory = temporaryDirectory('plat-launcher');
  const program = join(directory, 'plat');
  const node = join(directory, 'node');
  // Instead of Node, a program that prints what it is given.
  const text = '#!/bin/sh\nprintf "%s\\n" "extra=$NODE_EXTRA_CA_CERTS" "moved=$PLAT_NODE_EXTRA_CA_CERTS" "$@"\n';
  const launch = (args: readonly string[], env: Record<string, string> = {}): string[] => {
    writeFileSync(node, text);
    chmodSync(node, 0o755);
    return execFileSync(program, args, { env: { PATH: directory, ...env }, encoding: 'utf8' })
      .trimEnd()
      .split('\n');
  };
  if (programMissing === undefined) symlinkSync(join(programDirectory, 'plat.js'), program);
  const extra = { NODE_EXTRA_CA_CERTS: '/a b/ca.pem' };

  test('arguments are passed on as they are', () => {
    expect(launch([])).toEqual(['extra=', 'moved=', program]);
    expect(launch(['get', 'a b', '*', '$x', '-o', 'jsonpath={"}'])).toEqual([
      'extra=',
      'moved=',
      program,
      'get',
      'a b',
      '*',
      '$x',
      '-o',
      'jsonpath={"}',
    ]);
  });

  test('a server has its flags, and its certificates from Node', () => {
    expect(launch(['server', '--v', '2'], extra)).toEqual([
      'extra=/a b/ca.pem',
      'moved=',
      '--max-semi-space-size=64',
      program,
      'server',
      '--v',
      '2',
    ]);
  });

  test('commands read more certificates when they need them, unless they name an address', () => {
    expect(launch(['get', 'pods'], extra)).toEqual(['extra=', 'moved=/a b/ca.pem', program, 'get', 'pods']);
    const named = ['apply', '-f', 'https://example.com/a.yaml'];
    expect(launch(named, extra)).toEqual(['extra=/a b/ca.pem', 'moved=', program, ...named]);
  });

  test('certificates stay with Node where its options say what it trusts, and one of an earlier start is forgotten', () => {
    for (const NODE_OPTIONS of ['--use-openssl-ca', '--no-warnings --use_openssl_ca', '--use-system-ca']) {
      expect(launch(['get'], { ...extra, NODE_OPTIONS })).toEqual(['extra=/a b/ca.pem', 'moved=', program, 'get']);
    }
    for (const command of ['get', 'server']) {
      expect(launch([command], { PLAT_NODE_EXTRA_CA_CERTS: '/old.pem' })).toContain('moved=');
    }
  });
});
