/** `plat store`: backups, restores, and the health of what is stored. */
import type { CommandEntry } from '../command.ts';
import { commandGroup } from '../command-group.ts';

const commands: readonly CommandEntry[] = [
  { name: 'backup', summary: 'Write everything that is stored to a file.', load: async () => (await import('./backup.ts')).backup },
  {
    name: 'export',
    summary: 'Write objects as files that people can read.',
    load: async () => (await import('./export.ts')).exportCommand,
  },
  {
    name: 'import',
    summary: 'Create or update the objects of an export in a store.',
    load: async () => (await import('./import.ts')).importCommand,
  },
  {
    name: 'reencrypt',
    summary: 'Write objects again that are not under the first key of the encryption configuration.',
    load: async () => (await import('./reencrypt.ts')).reencrypt,
  },
  { name: 'repair', summary: 'Repair a damaged data directory.', load: async () => (await import('./repair.ts')).repair },
  { name: 'restore', summary: 'Fill an empty store from a backup.', load: async () => (await import('./restore.ts')).restore },
  { name: 'stat', summary: 'Show what a store or a backup holds.', load: async () => (await import('./stat.ts')).stat },
  { name: 'verify', summary: 'Check a data directory or a backup for damage.', load: async () => (await import('./verify.ts')).verify },
];

export const store = commandGroup('store', 'Back up, restore, check and repair what a server stores.', commands, [
  'plat store backup --to plat.backup',
  'plat store restore --from plat.backup --data-dir .plat',
  'plat store verify --data-dir .plat',
]);
