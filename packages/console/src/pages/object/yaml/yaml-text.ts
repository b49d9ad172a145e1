/** The YAML text of a value. */
import { stringifyYaml } from '@plat-dev/schema/yaml';

type YamlValue = Parameters<typeof stringifyYaml>[0];

/** Large values are written as JSON, which is YAML as well: the writer packs them in a way that browsers do not have. */
export function yamlText(value: unknown): string {
  try {
    return stringifyYaml(value as YamlValue);
  } catch {
    return `${JSON.stringify(value, null, 2)}\n`;
  }
}
