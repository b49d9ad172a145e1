/** The page of an object in a browser. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { groupName } from '../../packages/meta/src/identity.ts';
import { axeInBothThemes, chromiumPath, consoleTests } from './chromium.ts';

describe.skipIf(chromiumPath === undefined)('the page of an object', () => {
  const tests = consoleTests();
  const { open } = tests;
  const configMap = (namespace: string, name: string, data: object, metadata: object = {}) =>
    tests.server.admin.ok('POST', `/api/v1/namespaces/${namespace}/configmaps`, { metadata: { name, ...metadata }, data });
  const pathOf = (namespace: string, name: string): string => `/api/v1/namespaces/${namespace}/configmaps/${name}`;
  const patch = (path: string, body: object) => tests.server.admin.patch(path, body);

  const editorOf = (page: Page) => page.locator('.yaml-editor .cm-content');
  /** Writes another word in the place of one that stands in the editor once. */
  const replaceWord = async (page: Page, word: string, text: string): Promise<void> => {
    await editorOf(page).getByText(word, { exact: true }).dblclick();
    await page.keyboard.type(text);
  };
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

  test('the text follows changes of others until somebody writes', async () => {
    const namespace = await tests.server.namespace();
    await configMap(namespace, 'settings', { colour: 'red' });
    const page = await open(`/console/ns/${namespace}/configmaps/settings?tab=yaml`);
    await editorOf(page).getByText('red', { exact: true }).waitFor();
    await patch(pathOf(namespace, 'settings'), { data: { colour: 'green' } });
    await editorOf(page).getByText('green', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Review and save' }).isDisabled()).toBe(true);
  });

  test('an edit is reviewed and saved', async () => {
    const namespace = await tests.server.namespace();
    await configMap(namespace, 'settings', { colour: 'red' });
    const page = await open(`/console/ns/${namespace}/configmaps/settings?tab=yaml`);
    await replaceWord(page, 'red', 'blue');
    await press(page, 'Review and save');
    const review = page.getByRole('dialog', { name: 'Review your changes' });
    await review.locator('.cm-deletedChunk').getByText('red').waitFor();
    expect((await tests.server.admin.ok('GET', pathOf(namespace, 'settings'))).data.colour).toBe('red');
    await review.getByRole('button', { name: 'Save' }).click();
    await review.waitFor({ state: 'detached' });
    const saved = await tests.server.admin.ok('GET', pathOf(namespace, 'settings'));
    expect(saved.data.colour).toBe('blue');
    expect(saved.metadata.managedFields.map(({ manager }: { manager: string }) => manager)).toContain('plat-console');
  });

  test('an object is created from a table, after a review of what the server makes of it', async () => {
    const namespace = await tests.server.namespace();
    const page = await open(`/console/ns/${namespace}/configmaps`);
    await page.getByRole('heading', { name: 'ConfigMap' }).waitFor();
    await page.keyboard.press('c');
    await editorOf(page).getByText(namespace, { exact: true }).waitFor();
    await replaceWord(page, 'example', 'Not-A-Name');
    await press(page, 'Review and create');
    await page.getByRole('alert').getByText('metadata.name').first().waitFor();
    await editorOf(page).locator('.cm-lintRange-error').first().waitFor();
    expect(await axeInBothThemes(page)).toEqual([]);
    await editorOf(page).getByText('Not', { exact: false }).last().click();
    await page.keyboard.press('Home');
    await page.keyboard.press('Shift+End');
    await page.keyboard.type('name: settings');
    await page.keyboard.press('Control+s');
    const review = page.getByRole('dialog', { name: 'Create ConfigMap settings?' });
    await review.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: /settings/ }).waitFor();
    expect((await tests.server.admin.ok('GET', pathOf(namespace, 'settings'))).data).toEqual({ key: 'value' });
  });

  test('an edit with a conflict is merged', async () => {
    const namespace = await tests.server.namespace();
    await configMap(namespace, 'settings', { colour: 'red', size: 'small', third: 'c' });
    const page = await open(`/console/ns/${namespace}/configmaps/settings?tab=yaml`);
    await replaceWord(page, 'red', 'blue');
    await patch(pathOf(namespace, 'settings'), { data: { colour: 'green', size: 'large' } });
    await page.getByText('Somebody else changed this object while you edit it.').waitFor();
    await press(page, 'Review and save');
    const conflict = page.getByRole('dialog', { name: 'Somebody else changed this object' });
    await conflict.getByRole('group', { name: 'data.colour' }).getByText('theirs: green').waitFor();
    expect(await conflict.getByRole('group').count()).toBe(1);
    expect(await axeInBothThemes(page)).toEqual([]);
    await conflict.getByRole('button', { name: 'Merge' }).click();
    await editorOf(page).getByText('large', { exact: true }).waitFor();
    await press(page, 'Review and save');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await tests.server.admin.ok('GET', pathOf(namespace, 'settings'))).data).toEqual({ colour: 'blue', size: 'large', third: 'c' });
  });

  test('an error of the server stands at its field', async () => {
    const namespace = await tests.server.namespace();
    await configMap(namespace, 'settings', {}, { labels: { tier: 'front' } });
    const page = await open(`/console/ns/${namespace}/configmaps/settings?tab=yaml`);
    await replaceWord(page, 'front', '-front-');
    await press(page, 'Review and save');
    await page.getByRole('alert').getByText('metadata.labels').first().waitFor();
    await editorOf(page).locator('.cm-lintRange-error').first().waitFor();
    expect(await editorOf(page).locator('.cm-lintRange-error').first().textContent()).toBe('labels');
  });

  test('fields are completed and checked by the schema of the server', async () => {
    const namespace = await tests.server.namespace();
    await configMap(namespace, 'settings', { colour: 'red' });
    const page = await open(`/console/ns/${namespace}/configmaps/settings?tab=yaml`);
    await editorOf(page).getByText('red', { exact: true }).click();
    await page.keyboard.press('Control+End');
    await page.keyboard.type('imm');
    await page.getByRole('option', { name: /^immutable/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.type('x: 1');
    await editorOf(page).locator('.cm-lintRange-warning').getByText('immx').waitFor();
  });

  test('a delete names dependents and finalizers, and the object stays until they are removed', async () => {
    const namespace = await tests.server.namespace();
    const owner = await configMap(namespace, 'owner', {}, { finalizers: ['example.com/hold'] });
    await configMap(
      namespace,
      'owned',
      {},
      {
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }],
      },
    );
    const page = await open(`/console/ns/${namespace}/configmaps/owner`);
    await press(page, 'Delete');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It owns 1 ConfigMap').waitFor();
    await dialog.getByText('example.com/hold').waitFor();
    expect(await axeInBothThemes(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('It stays until these finalizers are removed: example.com/hold.').waitFor();
    await patch(pathOf(namespace, 'owner'), { metadata: { finalizers: null } });
    await page.getByText('This object was deleted. You see what it was last.').waitFor();
  });

  test('an earlier version comes back from history, also of a deleted object', async () => {
    const namespace = await tests.server.namespace();
    const { metadata } = await configMap(namespace, 'settings', { colour: 'red' });
    await patch(pathOf(namespace, 'settings'), { data: { colour: 'green' } });
    const page = await open(`/console/ns/${namespace}/configmaps/settings?tab=history`);
    await page.getByText('data.colour').waitFor();
    const back = async (action: string): Promise<void> => {
      await press(page, `Go back to version ${metadata.resourceVersion}`);
      await page.getByRole('dialog').getByRole('button', { name: action }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await back('Go back');
    expect((await tests.server.admin.ok('GET', pathOf(namespace, 'settings'))).data).toEqual({ colour: 'red' });
    await tests.server.admin.ok('DELETE', pathOf(namespace, 'settings'));
    await page.getByText('This object was deleted.').waitFor();
    await back('Create again');
    expect((await tests.server.admin.ok('GET', pathOf(namespace, 'settings'))).data).toEqual({ colour: 'red' });
  });

  test('a deployment is scaled and restarted', async () => {
    const namespace = await tests.server.namespace();
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web' }] } };
    await tests.server.admin.ok('POST', path, {
      metadata: { name: 'web' },
      spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template },
    });
    const page = await open(`/console/ns/${namespace}/apps/v1/deployments/web`);
    await press(page, 'Scale');
    await page.getByRole('button', { name: 'One more' }).click();
    await press(page, 'Scale to 2');
    await page.getByText('0 of 2 ready').waitFor();
    await press(page, 'Restart');
    await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click();
    await page.getByText('The pods of web are being replaced.').waitFor();
    const { spec } = await tests.server.admin.ok('GET', `${path}/web`);
    expect(spec.replicas).toBe(2);
    expect(Object.keys(spec.template.metadata.annotations)).toEqual([expect.stringContaining('restartedAt')]);
  });

  test('values of a secret are hidden until they are asked for', async () => {
    const namespace = await tests.server.namespace();
    await tests.server.admin.ok('POST', `/api/v1/namespaces/${namespace}/secrets`, {
      metadata: { name: 'login' },
      stringData: { password: 'hunter2' },
    });
    const page = await open(`/console/ns/${namespace}/secrets/login`);
    await page.getByText('7 bytes').waitFor();
    expect(await page.content()).not.toMatch(/hunter2|aHVudGVyMg/);
    await press(page, 'Show');
    await page.getByText('hunter2').waitFor();
    await page.getByRole('tab', { name: 'YAML' }).click();
    await page.getByText('The values of this secret are hidden').waitFor();
    expect(await page.locator('.yaml-editor').count()).toBe(0);
  });

  const evil = '<img src=x onerror="globalThis.ran=1"><script>globalThis.ran=1</script>\u202e\u0007\u001b[31m';
  /** Nothing ran, nothing became markup, and what cannot be seen is marked. */
  const expectHarmless = async (page: Page): Promise<void> => {
    await page.getByText('⟨U+202E⟩').first().waitFor();
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
    expect(await page.locator('img[src]').count()).toBe(0);
  };

  test('markup and control characters of names, annotations, events and YAML are only text', async () => {
    const namespace = await tests.server.namespace();
    const { metadata } = await configMap(namespace, 'odd', { key: evil }, { annotations: { note: evil } });
    await tests.server.admin.ok('POST', `/api/v1/namespaces/${namespace}/events`, {
      metadata: { name: 'odd.1' },
      involvedObject: { kind: 'ConfigMap', namespace, name: 'odd', uid: metadata.uid },
      reason: 'Odd',
      message: evil,
      type: 'Warning',
    });
    for (const tab of ['summary', 'yaml', 'events', 'history', 'owners', 'tree']) {
      const page = await open(`/console/ns/${namespace}/configmaps/odd?tab=${tab}`);
      await page.getByRole('tabpanel').waitFor();
      if (['summary', 'yaml', 'events'].includes(tab)) await expectHarmless(page);
      expect(await page.evaluate('globalThis.ran'), tab).toBeUndefined();
    }
  });

  test('a name may hold almost everything', async () => {
    const group = groupName(tests.server.identity, 'rbac.authorization');
    const name = '<img src=x onerror="globalThis.ran=1"> role';
    await tests.server.admin.ok('POST', `/apis/${group}/v1/clusterroles`, { metadata: { name }, rules: [] });
    const page = await open(`/console/${group}/v1/clusterroles/${encodeURIComponent(name)}`);
    await page.getByRole('heading', { level: 1, name }).waitFor();
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
    expect(await page.locator('img[src]').count()).toBe(0);
  });

  test('a line of a megabyte breaks neither summary nor editor', async () => {
    const namespace = await tests.server.namespace();
    await configMap(namespace, 'long', { line: 'x'.repeat(1_000_000), short: 'seen' });
    const page = await open(`/console/ns/${namespace}/configmaps/long`);
    await page.getByText('show all 1,000,000 characters').waitFor();
    await page.getByRole('tab', { name: 'YAML' }).click();
    await replaceWord(page, 'seen', 'changed');
    await press(page, 'Review and save');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { data } = await tests.server.admin.ok('GET', pathOf(namespace, 'long'));
    expect([data.short, data.line.length]).toEqual(['changed', 1_000_000]);
  });

  test.each(['summary', 'yaml', 'events', 'tree', 'owners', 'history'])('axe finds nothing wrong with %s', async (tab) => {
    const page = await open(`/console/namespaces/default?tab=${tab}`);
    await page.getByRole('tabpanel').waitFor();
    await expect.poll(() => page.getByRole('tabpanel').textContent()).not.toBe('');
    expect(await axeInBothThemes(page)).toEqual([]);
  });

  test('an object that is not there says so', async () => {
    const page = await open('/console/ns/default/configmaps/nothing');
    await page.getByRole('heading', { name: 'There is no such ConfigMap' }).waitFor();
    expect(await axeInBothThemes(page)).toEqual([]);
  });
});
