export interface Lockfile {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly version?: string;
        readonly license?: string;
        readonly dev?: boolean;
        readonly devOptional?: boolean;
        readonly optional?: boolean;
        readonly optionalDependencies?: Readonly<Record<string, string>>;
      }
    >
  >;
}
export interface PackageLicence {
  readonly name: string;
  readonly version: string | undefined;
  readonly licence: string | undefined;
  /** Whether only this repository uses it. */
  readonly isTool: boolean;
}
export const permissive: ReadonlySet<string>;
export const forTools: ReadonlySet<string>;
export function isAllowed(expression: string, allowed: ReadonlySet<string>): boolean;
export function licencesOf(
  lockfile: Lockfile,
  installed: (path: string) => { readonly license?: string | { readonly type: string } } | undefined,
): PackageLicence[];
export function offences(found: readonly PackageLicence[]): string[];
