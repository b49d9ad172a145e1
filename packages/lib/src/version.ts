import { own } from './own.ts';

/** The release of this product, the same as in package.json. */
export const productVersion = '0.2.0';
/** The release of the API that a server has by default. */
export const apiRelease = '1.24';
/** The patch release of the stock server whose behaviour it has. */
export const stockRelease = `${apiRelease}.17`;

/** Releases whose API a server can have (`--api-release`), oldest first. */
export const apiReleases = [
  '1.15',
  '1.16',
  '1.17',
  '1.18',
  '1.19',
  '1.20',
  '1.21',
  '1.22',
  '1.23',
  '1.24',
  '1.25',
  '1.26',
  '1.27',
  '1.28',
  '1.29',
  '1.30',
  '1.31',
  '1.32',
  '1.33',
  '1.34',
  '1.35',
  '1.36',
] as const;
export type ApiRelease = (typeof apiReleases)[number];
export const latestRelease: ApiRelease = '1.36';

/** Requests ask for these: a text is read once. */
const minors: ReadonlyMap<string, number> = new Map(apiReleases.map((release) => [release, minorIn(release)]));

function minorIn(release: string): number {
  return Number(release.slice(release.indexOf('.') + 1));
}

/** `1.9` → 9: releases are compared by this number. */
export const minorOf = (release: string): number => minors.get(release) ?? minorIn(release);
export const isAtLeast = (release: string, other: string): boolean => minorOf(release) >= minorOf(other);
/** The last patch release of stock servers, whose behaviour a server has. Older releases differ in what they serve only. */
const lastPatches: Readonly<Record<string, number>> = {
  '1.24': 17,
  '1.25': 16,
  '1.26': 15,
  '1.27': 16,
  '1.28': 15,
  '1.29': 15,
  '1.30': 14,
  '1.31': 14,
  '1.32': 13,
  '1.33': 13,
  '1.34': 11,
  '1.35': 8,
  '1.36': 4,
};
/** The patch release that `/version` reports. */
export const patchRelease = (release: string): string => `${release}.${own(lastPatches, release) ?? 0}`;
