import type { Plugin } from 'esbuild';

export interface Manifest {
  readonly name: string;
  readonly version: string;
  /** Only ever a part of the bundle. */
  readonly private?: boolean;
  readonly exports: Readonly<Record<string, string | { readonly source: string; readonly default?: string }>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}
export const packages: ReadonlyMap<string, Manifest>;
export function sourceOf(specifier: string): string | undefined;
export const bundledPackages: Plugin;
