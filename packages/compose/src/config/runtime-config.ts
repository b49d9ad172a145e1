/**
 * Which versions and resources of the API are served (`--runtime-config`). The more exact setting wins:
 *
 *   api/all=false            everything off …
 *   api/beta=true            … but what is beta
 *   apps/v1=true             … and this version
 *   batch/v1/jobs=true       … and this one resource
 *
 * `v1` alone and `api/v1` are the core group. A missing value means true. A version that the release of the API (`--api-release`)
 * has no more, or not yet, is served where it is named.
 */
import { readBooleanOf } from '@plat-dev/lib/flags';

type Level = 'ga' | 'beta' | 'alpha';
export interface RuntimeSetting {
  /** As it was written, without the value. */
  readonly key: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string | undefined;
  readonly enabled: boolean;
}

const levelOf = (version: string): Level => (version.includes('alpha') ? 'alpha' : version.includes('beta') ? 'beta' : 'ga');

export class RuntimeConfig {
  private readonly all: boolean | undefined;
  private readonly levels: ReadonlyMap<string, boolean>;
  readonly settings: readonly RuntimeSetting[];

  constructor(all: boolean | undefined, levels: ReadonlyMap<string, boolean>, settings: readonly RuntimeSetting[]) {
    this.all = all;
    this.levels = levels;
    this.settings = settings;
  }
  /**
   * Whether a version, or one resource of it, is served. `group` is the whole name; `byDefault` is off for alpha versions. What the
   * release of the API does not have (`exists`) is served where it is named, but does not count among `api/all` and its like.
   */
  enabled(group: string, version: string, resource?: string, byDefault = levelOf(version) !== 'alpha', exists = true): boolean {
    let answer = exists ? (this.levels.get(levelOf(version)) ?? this.all ?? byDefault) : false;
    let rank = 0;
    for (const s of this.settings) {
      if (s.group !== group || s.version !== version || (s.resource !== undefined && s.resource !== resource)) continue;
      const exactness = s.resource === undefined ? 1 : 2;
      if (exactness >= rank) [answer, rank] = [s.enabled, exactness];
    }
    return answer;
  }
  /** Keys that name nothing the server knows: a mistake that must not pass unseen. */
  unknown(knows: (group: string, version: string, resource: string | undefined) => boolean): string[] {
    return this.settings.filter((s) => !knows(s.group, s.version, s.resource)).map((s) => s.key);
  }
}

/** Reads the items of `--runtime-config`. Throws an Error that says what is wrong. */
export function readRuntimeConfig(items: readonly string[]): RuntimeConfig {
  let all: boolean | undefined;
  const levels = new Map<string, boolean>();
  const settings: RuntimeSetting[] = [];
  for (const item of items) {
    const equals = item.indexOf('=');
    const key = equals === -1 ? item : item.slice(0, equals);
    const enabled = equals === -1 || readBooleanOf(key, item.slice(equals + 1));
    const parts = key.split('/');
    if (parts[0] === 'api' && parts.length === 2 && !isVersion(parts[1])) {
      if (parts[1] === 'all') all = enabled;
      else if (parts[1] === 'ga' || parts[1] === 'beta' || parts[1] === 'alpha') levels.set(parts[1], enabled);
      else throw new Error(`${JSON.stringify(key)} is not one of api/all, api/ga, api/beta, api/alpha, api/v1`);
      continue;
    }
    settings.push({ key, enabled, ...splitKey(key, parts[0] === 'api' && isVersion(parts[1]) ? parts.slice(1) : parts) });
  }
  return new RuntimeConfig(all, levels, settings);
}

const isVersion = (text: string | undefined): boolean => text !== undefined && /^v\d+((alpha|beta)\d+)?$/.test(text);

function splitKey(key: string, parts: readonly string[]): { group: string; version: string; resource: string | undefined } {
  const core = isVersion(parts[0]);
  const [group, version, resource] = core ? ['', ...parts] : parts;
  if (parts.some((p) => p === '') || !isVersion(version) || parts.length > (core ? 2 : 3)) {
    throw new Error(`${JSON.stringify(key)} is not of the form group/version or group/version/resource`);
  }
  return { group: group as string, version: version as string, resource };
}

export const defaultRuntimeConfig = readRuntimeConfig([]);
