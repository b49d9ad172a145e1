import type { FileSystem } from 'typescript/unstable/fs';

export interface KeyPlace {
  readonly file: string;
  readonly line: number;
  readonly code: string;
}
export function dynamicKeys(directory: string, fs?: FileSystem): KeyPlace[];
export function offences(places: readonly KeyPlace[], except?: Readonly<Record<string, string>>): string[];
