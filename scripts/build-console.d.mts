export interface OutputFile {
  readonly type: 'chunk' | 'asset';
  readonly fileName: string;
  readonly imports?: readonly string[];
  readonly isEntry?: boolean;
  readonly facadeModuleId?: string | null;
}
/** The names of the files of the first view. */
export function firstView(output: readonly OutputFile[]): string[];
/** What is wrong with a first view of files of so many compressed bytes; undefined: nothing. */
export function firstViewFault(sizes: readonly number[]): string | undefined;
