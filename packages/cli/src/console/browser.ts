/** Opens the browser of the desktop. */
import { spawn } from 'node:child_process';
import type { IO } from '../command.ts';

/** A machine without a desktop has none, and nothing happens: the link is printed anyway. */
export function openBrowser(url: string, { platform, env }: Pick<IO, 'platform' | 'env'>): void {
  const opener = openerOf(platform, env);
  if (opener === undefined) return;
  const [program, ...args] = opener;
  const child = spawn(program, [...args, url], { detached: true, stdio: 'ignore' });
  child.once('error', () => {});
  child.unref();
}

/** The program that opens a URL, and its arguments before it. */
export function openerOf(platform: NodeJS.Platform, env: IO['env']): readonly [string, ...string[]] | undefined {
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : undefined;
}
