import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseServerFlags, type ServerOptions, serverHelp } from '@plat-dev/compose/config/server-options';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { kubernetes, plat } from '@plat-dev/meta/identity';
import type { JsonObject } from '@plat-dev/schema/types';
import { expect, test } from 'vitest';
import { readAdmissionConfiguration } from './configuration.ts';
import { deprecatedPlugins, enabledPlugins, isConfigurable, orderedPlugins, pluginNames } from './plugin-names.ts';
import { plugins } from './plugins/index.ts';
import { World } from './testing.ts';

test('the default plug-ins are those of the specification', () => {
  expect(enabledPlugins([], []).sort()).toEqual([
    'CertificateApproval',
    'CertificateSigning',
    'CertificateSubjectRestriction',
    'DefaultIngressClass',
    'DefaultStorageClass',
    'DefaultTolerationSeconds',
    'LimitRanger',
    'MutatingAdmissionWebhook',
    'NamespaceLifecycle',
    'PersistentVolumeClaimResize',
    'PodSecurity',
    'Priority',
    'ResourceQuota',
    'RuntimeClass',
    'ServiceAccount',
    'StorageObjectInUseProtection',
    'TaintNodesByCondition',
    'ValidatingAdmissionWebhook',
  ]);
});

test('every name leads to a plug-in, and none is named twice', () => {
  expect(Object.keys(plugins).sort()).toEqual([...pluginNames].sort());
  expect(new Set(pluginNames).size).toBe(orderedPlugins.length);
});

test('the order of the flags is irrelevant', () => {
  const one = enabledPlugins(['NodeRestriction', 'AlwaysPullImages'], ['Priority']);
  expect(one).toEqual(enabledPlugins(['AlwaysPullImages', 'NodeRestriction'], ['Priority']));
  expect(one).not.toContain('Priority');
  expect(one.indexOf('NodeRestriction')).toBeLessThan(one.indexOf('AlwaysPullImages'));
});

test('deprecated plug-ins are listed with their reason', () => {
  expect(deprecatedPlugins(['PodSecurityPolicy', 'Priority'])).toEqual([
    { plugin: 'PodSecurityPolicy', reason: 'PodSecurity takes its place' },
  ]);
});

test('flags refuse names that nothing has, and suggest one', () => {
  const parse = (...args: string[]) => parseServerFlags(args) as ServerOptions;
  expect(() => parse('--enable-admission-plugins', 'NodeRestrictions')).toThrow(
    /unknown plug-in NodeRestrictions \(did you mean NodeRestriction\?\)/,
  );
  expect(() => parse('--disable-admission-plugins=LimitRange')).toThrow(/did you mean LimitRanger/);
  expect(() => parse('--enable-admission-plugins=Priority', '--disable-admission-plugins=Priority')).toThrow(/both name Priority/);
  expect(parse('--enable-admission-plugins=NodeRestriction,AlwaysPullImages').enableAdmissionPlugins).toEqual([
    'NodeRestriction',
    'AlwaysPullImages',
  ]);
});

// ---- the configuration file --------------------------------------------------------------------------------------

const directory = temporaryDirectory('plat-admission');
function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}
const head = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n';

test('configuration stands in place or in a file of its own, relative to the first', () => {
  file('own.yaml', 'podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: zone=a }');
  const read = readAdmissionConfiguration(
    file('both.yaml', `${head}plugins:\n- name: PodSecurity\n  configuration: { kind: X }\n- name: PodNodeSelector\n  path: own.yaml\n`),
    kubernetes,
    pluginNames,
  );
  expect(read.get('PodSecurity')).toEqual({ value: { kind: 'X' }, directory });
  expect(read.get('PodNodeSelector')?.value).toEqual({ podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'zone=a' } });
});

test('what is wrong with the file is said', () => {
  const refused = (text: string) => () => readAdmissionConfiguration(file('wrong.yaml', text), kubernetes, pluginNames);
  expect(refused(`${head}plugins:\n- name: PodSecurty\n  path: x\n`)).toThrow(
    /unknown plug-in "PodSecurty" \(did you mean PodSecurity\?\)/,
  );
  expect(refused('kind: Pod\napiVersion: v1\n')).toThrow(/kind must be AdmissionConfiguration/);
  expect(refused('apiVersion: v2\nkind: AdmissionConfiguration\n')).toThrow(/apiVersion must be apiserver.config.k8s.io\/v1/);
  expect(refused(`${head}plugin: []\n`)).toThrow(/the configuration has no field "plugin" \(did you mean plugins\?\)/);
  expect(refused(`${head}plugins:\n- name: Priority\n  config: {}\n`)).toThrow(/the entry of Priority has no field "config"/);
  expect(refused(`${head}plugins:\n- name: PodSecurity\n  path: no-such-file\n`)).toThrow(/no-such-file/);
  expect(refused(`${head}plugins:\n- name: PodSecurity\n  path: x\n  configuration: {}\n`)).toThrow(
    'the entry of PodSecurity has both a path and a configuration: only one of them can hold',
  );
  expect(refused(`${head}plugins:\n- name: PodSecurity\n  path: [x]\n`)).toThrow('the path of PodSecurity must be a text');
  expect(() => readAdmissionConfiguration(file('stock.yaml', head), plat, pluginNames)).toThrow(/apiserver.config.plat.dev/);
});

test('settings that would have no effect are refused: of a plug-in that takes none, or does not run', async () => {
  const text = (name: string): string => file('one.yaml', `${head}plugins:\n- name: ${name}\n  configuration: { no: field }\n`);
  const read = (name: string, enabled: readonly string[]) => readAdmissionConfiguration(text(name), kubernetes, enabled);
  for (const name of pluginNames) {
    expect(() =>
      read(
        name,
        pluginNames.filter((one) => one !== name),
      ),
    ).toThrow(name);
    // What takes settings reads them, and reports the field. What takes none is not given any.
    if (isConfigurable(name)) {
      const { value } = read(name, pluginNames).get(name) as { value: JsonObject };
      await expect(new World().plugin(plugins[name], value), name).rejects.toThrow(/no|kind|limits/);
    } else expect(() => read(name, pluginNames)).toThrow(`the plug-in ${name} takes no configuration: remove its entry`);
  }
  expect(() => read('EventRateLimit', ['PodSecurity'])).toThrow(/EventRateLimit does not run, so that its entry has no effect/);
});

const typed = (group: string, kind: string, more: object) => ({
  apiVersion: `${group}.k8s.io/${kind === 'Configuration' ? 'v1alpha1' : 'v1'}`,
  kind,
  ...more,
});
test.each([
  ['PodSecurity', typed('pod-security.admission.config', 'PodSecurityConfiguration', { default: {} }), 'defaults'],
  ['EventRateLimit', typed('eventratelimit.admission', 'Configuration', { limit: [] }), 'limits'],
  ['EventRateLimit', typed('eventratelimit.admission', 'Configuration', { limits: [{ type: 'Server', qps: 1, bursts: 1 }] }), 'burst'],
  ['ImagePolicyWebhook', { imagePolicy: { kubeConfigFile: 'x', defaultAlow: true } }, 'defaultAllow'],
  ['PodNodeSelector', { podNodeSelectorPluginConfigs: {} }, 'podNodeSelectorPluginConfig'],
  ['PodTolerationRestriction', typed('podtolerationrestriction.admission', 'Configuration', { defaults: [] }), 'default'],
  ['PodTolerationRestriction', typed('podtolerationrestriction.admission', 'Configuration', { default: [{ keys: 'a' }] }), 'key'],
  ['ResourceQuota', typed('apiserver.config', 'ResourceQuotaConfiguration', { limitedResource: [] }), 'limitedResources'],
  [
    'ResourceQuota',
    typed('apiserver.config', 'ResourceQuotaConfiguration', {
      limitedResources: [{ resource: 'pods', matchScopes: [{ scopeName: 'x', operator: 'In', value: [] }] }],
    }),
    'values',
  ],
  ['ImagePolicyWebhook', { imagePolicy: { kubeConfigFile: 'x' }, imagePolicies: {} }, 'imagePolicy'],
  ['PersistentVolumeLabel', typed('apiserver.config', 'PersistentVolumeLabelConfiguration', { volume: {} }), 'volumes'],
  [
    'PersistentVolumeLabel',
    typed('apiserver.config', 'PersistentVolumeLabelConfiguration', { volumes: { v: { region: 'a', zones: 'b' } } }),
    'zone',
  ],
] as const)('%s refuses a field that it does not know, and suggests one', async (name, configuration, meant) => {
  await expect(new World().plugin(plugins[name], configuration as JsonObject)).rejects.toThrow(`did you mean ${meant}?`);
});

test('the help says which plug-ins run by default', () => {
  const help = serverHelp().replace(/\s+/g, ' ');
  expect(help).toMatch(/: AlwaysAdmit, .*, AlwaysDeny\. On by default: NamespaceLifecycle, .*, ResourceQuota\./);
});
