import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtinKinds } from '../../packages/kinds/src/index.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { identities } from '../../packages/meta/src/identity.ts';
import { readEncryptionConfig } from '../../packages/storage/src/encryption/config.ts';

test('the first example of docs/encryption.md makes a file that every identity can use, for its owner alone', () => {
  const page = readFileSync(new URL('../../docs/encryption.md', import.meta.url), 'utf8');
  const example = /```sh\n([^`]*?)plat server/.exec(page)?.[1] as string;
  const cwd = temporaryDirectory('plat-docs');
  execFileSync('sh', ['-e', '-c', example], { cwd });
  const file = join(cwd, 'encryption.yaml');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  for (const identity of Object.values(identities)) {
    const rules = readEncryptionConfig(readFileSync(file), identity, builtinKinds(identity));
    expect(rules.map(({ collections, providers }) => [collections, providers.map(({ type }) => type)])).toEqual([
      [
        ['core/secrets/', '~example.com/widgets/'],
        ['aesgcm', 'identity'],
      ],
    ]);
  }
});
