import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@plat-dev/lib/clock';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { expect, test } from 'vitest';
import { editConfig, readRawConfig } from './config-file.ts';

const directory = temporaryDirectory('plat-config-file');

test('a file is made where there is none, for its owner only', async () => {
  const path = join(directory, 'new', 'config');
  await editConfig(path, systemClock, (config) => {
    config['current-context'] = 'a';
  });
  expect(readFileSync(path, 'utf8')).toBe(
    'apiVersion: v1\nclusters: []\ncontexts: []\ncurrent-context: a\nkind: Config\npreferences: {}\nusers: []\n',
  );
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(existsSync(`${path}.lock`)).toBe(false);
});

test('writers wait for each other: none of their changes is lost', async () => {
  const path = join(directory, 'shared');
  writeFileSync(path, 'own: kept\nusers: null\n');
  const add = (name: string) =>
    editConfig(path, systemClock, (config) => {
      config.users = [...(config.users ?? []), { name }];
    });
  await Promise.all(['a', 'b', 'c', 'd'].map(add));
  const written = await readRawConfig(path);
  expect(written?.own).toBe('kept');
  expect(written?.users?.map(({ name }) => name).sort()).toEqual(['a', 'b', 'c', 'd']);
});

test('a lock that was left behind is no obstacle; one that is held is', async () => {
  const path = join(directory, 'locked');
  const change = () => editConfig(path, systemClock, (config) => void Object.assign(config, { touched: true }));
  writeFileSync(`${path}.lock`, '');
  await expect(change()).rejects.toThrow(`another program is writing ${path}; if none is, remove ${path}.lock`);
  utimesSync(`${path}.lock`, 0, 0);
  await change();
  expect((await readRawConfig(path))?.touched).toBe(true);
});

test('what is no configuration is left alone', async () => {
  const path = join(directory, 'other');
  writeFileSync(path, 'users: [{}]');
  await expect(editConfig(path, systemClock, () => {})).rejects.toThrow('users must be a list of entries with names');
  writeFileSync(path, '- x');
  await expect(editConfig(path, systemClock, () => {})).rejects.toThrow('is not a configuration');
  expect(readFileSync(path, 'utf8')).toBe('- x');
  expect(existsSync(`${path}.lock`)).toBe(false);
});
