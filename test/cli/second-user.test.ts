/** The recipe of docs/security.md for a second user, command by command. */
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { platFor, shellWords } from '../support/plat.ts';
import { startTestServer } from '../support/server.ts';

const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');
const [, recipe = ''] = /### A second user\n([\s\S]*?)\n## /.exec(page) ?? [];

test('the commands make a context of a service account', async () => {
  const server = await startTestServer();
  try {
    const file = join(platFor(server).cwd, 'admin.conf');
    copyFileSync(server.running.adminConfigPath, file);
    const plat = platFor(server, { PLATCONFIG: file }, []);
    const lines = [...recipe.matchAll(/^ {4}plat (.*)$/gm)].map(([, line = '']) => line);
    expect(lines).toHaveLength(6);
    for (const line of lines) {
      const [, inner] = /"\$\(plat (.*?)\)"/.exec(line) ?? [];
      const value = inner === undefined ? '' : (await plat.ok(inner.replaceAll("'", '').split(' '))).trim();
      await plat.ok(shellWords(line.replace(/"\$\(.*?\)"/, value)));
    }
    expect(await plat.ok(['auth', 'whoami', '--context', 'bob'])).toContain('system:serviceaccount:team:bob');
  } finally {
    await server.close();
  }
});
