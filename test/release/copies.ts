/** Copies of this checkout with all that is not committed, each a repository of one commit, the same in all of them. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const author = { GIT_AUTHOR_NAME: 'plat', GIT_AUTHOR_EMAIL: 'plat@example.com', GIT_AUTHOR_DATE: '2026-01-02T03:04:05Z' };
const committer = { GIT_COMMITTER_NAME: 'plat', GIT_COMMITTER_EMAIL: 'plat@example.com', GIT_COMMITTER_DATE: '2026-01-02T03:04:05Z' };

export function copyCheckout(directory: string): void {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: directory, encoding: 'utf8', env: { ...process.env, ...author, ...committer }, maxBuffer: 1 << 26 });
  mkdirSync(directory, { recursive: true });
  const files = execFileSync('git', ['-C', root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' });
  for (const file of files.split('\0').filter((name) => name !== '' && !/^(?:bench|test)\//.test(name))) {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    cpSync(join(root, file), join(directory, file));
  }
  linkModules(directory);
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '--no-gpg-sign', '--message', 'A release');
}

/** Packages of the repository are those of the copy, and so is what builds keep, but for downloads. */
function linkModules(directory: string): void {
  const modules = join(directory, 'node_modules');
  mkdirSync(join(modules, '@plat-dev'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '@plat-dev' && name !== '.cache') symlinkSync(join(root, 'node_modules', name), join(modules, name));
  const downloads = join('.cache', 'executables');
  mkdirSync(join(root, 'node_modules', downloads), { recursive: true });
  mkdirSync(join(modules, '.cache'));
  symlinkSync(join(root, 'node_modules', downloads), join(modules, downloads));
  for (const name of readdirSync(join(directory, 'packages')))
    symlinkSync(join(directory, 'packages', name), join(modules, '@plat-dev', name));
}
