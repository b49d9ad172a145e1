import { bool, text } from '@plat-dev/lib/flags';
import { expect, test } from 'vitest';
import { connectFlags } from '../global-flags.ts';
import { repeatedFlags, sameCaller } from './repeated-flags.ts';

const flags = { Doing: { force: bool(false, '') }, Connecting: connectFlags };

test('flags about server, user and namespace are repeated for the shell; of several values the last counts, but of groups all', () => {
  const args = [
    'web',
    '--force',
    '--context=a b',
    '-n',
    'x',
    '-nteam',
    '--as',
    "o'hara",
    '--as-group=a',
    '--as-group',
    '$b',
    '-s',
    'https://h:1',
  ];
  expect(repeatedFlags(flags, [...args, '--insecure-skip-tls-verify', '--', '--context', 'other'])).toEqual({
    server: " --context 'a b' --server https://h:1 --insecure-skip-tls-verify=true",
    impersonation: " --as 'o'\\''hara' --as-group a --as-group '$b'",
    as: "o'hara",
    namespace: ' -n team',
  });
});

test('secrets are left out, and so is everything of a command line that is wrong', () => {
  expect(sameCaller(repeatedFlags(flags, ['--token', 'secret', '--username=u', '--password', 'secret']))).toBe('');
  expect(sameCaller(repeatedFlags(flags, ['--as', 'alice', '--nonsense']))).toBe('');
});

test("a command's own flag of the same name is not repeated", () => {
  const own = { Connecting: connectFlags, Binding: { user: text('', '') } };
  expect(sameCaller(repeatedFlags(own, ['--user', 'alice', '--cluster', 'c']))).toBe(' --cluster c');
});
