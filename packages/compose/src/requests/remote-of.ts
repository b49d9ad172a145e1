import { readFileSync } from 'node:fs';
import { parseConfig } from '@plat-dev/client/config';
import { connectionOf } from '@plat-dev/client/connection';
import type { Clock } from '@plat-dev/lib/clock';
import type { Remote } from '@plat-dev/server/http-client/outbound';
import type { Trust } from '../credentials/trust.ts';

/** A webhook from a file in the kubeconfig format. */
export async function remoteOf(flag: string, file: string, { own }: Pick<Trust, 'own'>, clock: Clock): Promise<Remote> {
  try {
    const connection = await connectionOf(
      await parseConfig(readFileSync(file, 'utf8'), file),
      {},
      { env: {}, clock, interactive: false, show: () => {} },
    );
    // These calls use the configuration of the server's start.
    if (connection.credentials !== undefined && connection.authorization === undefined) {
      throw new Error('the user gets credentials from a plug-in or provider, which has no place here: use a certificate or a token');
    }
    if (connection.proxy !== undefined) throw new Error('proxy-url has no effect here: leave it out');
    return { ...connection, isOwn: (certificate) => own.has(certificate) };
  } catch (error) {
    throw new Error(`--${flag} ${file}: ${(error as Error).message}`);
  }
}
