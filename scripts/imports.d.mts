import type { Manifest } from './workspaces.mjs';

export function importsOf(text: string): string[];
export function faultsOf(file: string, names: readonly string[], manifest: Pick<Manifest, 'dependencies' | 'devDependencies'>): string[];
export function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][];
