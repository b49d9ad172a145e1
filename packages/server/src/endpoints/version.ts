/** `/version`: which release of the API this server speaks, in the terms that stock clients parse. */

import type { BuiltFrom } from '@plat-dev/lib/build-info';
import { platform } from '@plat-dev/lib/platform';
import { isAtLeast, patchRelease } from '@plat-dev/lib/version';
import { send } from '../response/respond.ts';
import { demandJson, type Endpoint, readOnly } from './endpoint.ts';

export interface BuildInfo {
  /** Version of the package: `0.1.0`. */
  readonly version: string;
  readonly from: BuiltFrom;
  /** Release of the API: `1.24`. */
  readonly release: string;
}

/** `v1.24.17+plat.0.1.0`: clients compare the release, people read what comes after the plus. */
const gitVersion = (build: BuildInfo): string => `v${patchRelease(build.release)}+plat.${build.version.replace(/[^0-9A-Za-z.-]/g, '-')}`;

/** The version in OpenAPI documents: since releases can stand in for older ones, that of the API. */
export const documentVersion = (build: BuildInfo): string => (isAtLeast(build.release, '1.31') ? build.release : gitVersion(build));

/** The fields in the order of the stock server. */
export function versionInfo(build: BuildInfo): Readonly<Record<string, string>> {
  const [major = '', minor = ''] = build.release.split('.');
  return {
    major,
    minor,
    ...(isAtLeast(build.release, '1.33') && {
      emulationMajor: major,
      emulationMinor: minor,
      minCompatibilityMajor: major,
      minCompatibilityMinor: String(Number(minor) - 1),
    }),
    gitVersion: gitVersion(build),
    gitCommit: build.from.commit,
    gitTreeState: build.from.treeState,
    buildDate: build.from.date,
    // Clients expect the field; what stands there is free.
    goVersion: `node${process.versions.node}`,
    compiler: 'v8',
    platform,
  };
}

export function versionEndpoint(build: BuildInfo): Endpoint {
  const text = JSON.stringify(versionInfo(build), undefined, 2);
  return readOnly(async (ctx) => {
    demandJson(ctx);
    send(ctx, 200, 'application/json', text);
  });
}
