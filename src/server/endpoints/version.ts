/** `/version`: which release of the API this server speaks, in the terms that stock clients parse. */

import { patchRelease, platform } from '../../lib/version.ts';
import { send } from '../respond.ts';
import { demandJson, type Endpoint, readOnly } from './endpoint.ts';

export interface BuildInfo {
  /** Version of the package: `0.1.0`. */
  readonly version: string;
  /** Empty where the build does not know. */
  readonly commit?: string;
  readonly date?: string;
  /** Release of the API: `1.24`. */
  readonly release: string;
}

/** `v1.24.17+plat.0.1.0`: clients compare the release, people read what comes after the plus. */
export const gitVersion = (build: BuildInfo): string =>
  `v${patchRelease(build.release)}+plat.${build.version.replace(/[^0-9A-Za-z.-]/g, '-')}`;

export function versionEndpoint(build: BuildInfo): Endpoint {
  const [major = '', minor = ''] = build.release.split('.');
  const info = {
    major,
    minor,
    gitVersion: gitVersion(build),
    gitCommit: build.commit ?? '',
    gitTreeState: 'clean',
    buildDate: build.date ?? '1970-01-01T00:00:00Z',
    // Clients expect the field; what stands there is free.
    goVersion: `node${process.versions.node}`,
    compiler: 'v8',
    platform,
  };
  const text = JSON.stringify(info, undefined, 2);
  return readOnly((ctx) => {
    demandJson(ctx);
    send(ctx, 200, 'application/json', text);
  });
}
