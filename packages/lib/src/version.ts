/** The release of this product, the same as in package.json. */
export const productVersion = '0.1.0';
/** The release of the API that it speaks. */
export const apiRelease = '1.24';
/** The patch release of the stock server whose behaviour it has. */
export const stockRelease = `${apiRelease}.17`;

/** Releases whose groups and versions a server can serve (`--api-release`), oldest first. */
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
] as const;
export type ApiRelease = (typeof apiReleases)[number];

/** `1.9` → 9: releases are compared by this number. */
export const minorOf = (release: string): number => Number(release.slice(release.indexOf('.') + 1));
export const isAtLeast = (release: string, other: string): boolean => minorOf(release) >= minorOf(other);
/** The patch release that `/version` reports: 1.24.17 by default, the first one of any other release. */
export const patchRelease = (release: string): string => (release === apiRelease ? stockRelease : `${release}.0`);
