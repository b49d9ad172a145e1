/** Built-in kinds of which no version is served unless `--runtime-config` names one. They come after all others in discovery. */
import { StorageVersionKind } from './apiserverinternal/storage-version.ts';
import type { Kind } from './kind.ts';

export const alphaKinds: readonly Kind[] = [StorageVersionKind];
