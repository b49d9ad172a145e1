/**
 * The file of `--admission-control-config-file`: for each plug-in its configuration, in place or in a file of its own.
 *
 *   apiVersion: apiserver.config.<pd>/v1
 *   kind: AdmissionConfiguration
 *   plugins:
 *   - name: PodSecurity
 *     configuration: { … }
 *   - name: EventRateLimit
 *     path: events.yaml          # relative to this file
 */

import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { jsonText } from '@plat-dev/lib/json-text';
import { didYouMean } from '@plat-dev/lib/suggest';
import { joinApiVersion } from '@plat-dev/meta/api-version';
import { groupName, type Identity } from '@plat-dev/meta/identity';
import type { JsonObject, JsonValue } from '@plat-dev/schema/types';
import { parseYaml } from '@plat-dev/schema/yaml';
import type { PluginConfiguration } from './plugin.ts';
import { isConfigurable, pluginNames } from './plugin-names.ts';

/**
 * Reads the file. Throws an Error that names the problem; settings without effect, for a plug-in that does not
 * run or has none, are an error.
 */
export function readAdmissionConfiguration(
  file: string,
  identity: Identity,
  enabled: readonly string[],
): ReadonlyMap<string, PluginConfiguration> {
  const document = readYamlFile(file);
  const versions = [
    joinApiVersion(groupName(identity, 'apiserver.config'), 'v1'),
    joinApiVersion(groupName(identity, 'apiserver'), 'v1alpha1'),
  ];
  const { plugins, ...rest } = checkType(document, 'AdmissionConfiguration', versions);
  refuseUnknown(rest, ['apiVersion', 'kind', 'plugins'], 'the configuration');
  if (plugins !== undefined && plugins !== null && !Array.isArray(plugins)) throw new Error('plugins must be a list');
  const configurations = new Map<string, PluginConfiguration>();
  for (const entry of (plugins ?? []) as unknown[]) {
    const { name, path, configuration, ...others } = object(entry, 'an entry of plugins');
    refuseUnknown(others, ['name', 'path', 'configuration'], `the entry of ${String(name)}`);
    if (typeof name !== 'string' || !pluginNames.includes(name as never))
      throw new Error(`unknown plug-in ${jsonText(name ?? '')}${didYouMean(String(name ?? ''), pluginNames)}`);
    if (configurations.has(name)) throw new Error(`${name} is configured twice`);
    if (!isConfigurable(name)) throw new Error(`the plug-in ${name} takes no configuration: remove its entry`);
    if (!enabled.includes(name))
      throw new Error(
        `the plug-in ${name} does not run, so that its entry has no effect: remove it, or name the plug-in in --enable-admission-plugins`,
      );
    if (path !== undefined && path !== null && typeof path !== 'string') throw new Error(`the path of ${name} must be a text`);
    if (configuration !== undefined && configuration !== null && path !== undefined && path !== null && path !== '')
      throw new Error(`the entry of ${name} has both a path and a configuration: only one of them can hold`);
    if (configuration !== undefined && configuration !== null) {
      configurations.set(name, { value: configuration, directory: dirname(resolve(file)) });
    } else if (typeof path === 'string' && path !== '') {
      const own = resolve(dirname(file), path);
      configurations.set(name, { value: readYamlFile(own), directory: dirname(own) });
    }
  }
  return configurations;
}

export function readYamlFile(file: string): JsonValue {
  const text = readFileSync(file, 'utf8');
  try {
    return parseYaml(text);
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`);
  }
}

// ---- for the plug-ins --------------------------------------------------------------------------------------------

/** A configuration object of one of some versions. */
export function checkType(value: JsonValue, kind: string, versions: readonly string[]): JsonObject {
  const configurationObject = object(value, 'the configuration');
  if (configurationObject.kind !== kind) throw new Error(`the kind must be ${kind}, not ${jsonText(configurationObject.kind ?? '')}`);
  if (!versions.includes(configurationObject.apiVersion as string))
    throw new Error(`the apiVersion must be ${versions.join(' or ')}, not ${jsonText(configurationObject.apiVersion ?? '')}`);
  return configurationObject;
}

export function object(value: unknown, what: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error(`${what} must be an object`);
  return value as JsonObject;
}
export function stringList(value: unknown, what: string): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) throw new Error(`${what} must be a list of texts`);
  return value as string[];
}
export function refuseUnknown(value: JsonObject, fieldNames: readonly string[], what: string): void {
  for (const key in value)
    if (!fieldNames.includes(key)) throw new Error(`${what} has no field ${JSON.stringify(key)}${didYouMean(key, fieldNames)}`);
}
