/** What the launcher `kube-apiserver` runs: a server in memory with stock names, the files and flags that Go's envtest gives it. */
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { ServerOptions } from '@plat-dev/compose/config/server-options';
import type { RunningServer } from '@plat-dev/compose/server';
import { makeDirectory } from '@plat-dev/lib/files/directories';
import { flagHelp, readRelease } from '@plat-dev/lib/flags';
import { openLog } from '@plat-dev/lib/log';
import { apiRelease, patchRelease } from '@plat-dev/lib/version';
import { kubernetes } from '@plat-dev/meta/identity';
import { firstAddress } from '@plat-dev/meta/ip';
import { ensureAuthority, ensureServing, keysInMemory, servingNames, writeSecretFile } from '@plat-dev/pki';
import { ownAddresses } from '@plat-dev/pki/own-addresses';
import type { IO } from '../command.ts';
import { stopSignal } from '../terminal/stop-signal.ts';
import { envtestFlags, parseEnvtestFlags, RELEASE_VARIABLE } from './options.ts';

/** How a stock server names its release with `--version`: the one that `/version` answers. */
export const stockVersionText = (release: string): string => `Kubernetes v${patchRelease(readRelease(release))}\n`;
export const apiserverHelp = (): string => `kube-apiserver [flags]\n\n${flagHelp(envtestFlags)}`;

/** Runs until a signal. Returns the exit code. */
export async function runApiserver(args: readonly string[], io: IO): Promise<number> {
  const { clock } = io;
  const parsed = parseEnvtestFlags(args, io.env);
  if (parsed === 'help') io.out(apiserverHelp());
  if (parsed === 'version') io.out(stockVersionText(io.env[RELEASE_VARIABLE] || apiRelease));
  if (parsed === 'help' || parsed === 'version') return 0;
  const { certDir, ignored } = parsed;
  const log = openLog({ format: parsed.server.logFormat, verbosity: parsed.server.v, now: () => clock.now() });
  for (const warning of parsed.server.warnings) log.warn('flag has a warning', { warning });
  if (ignored.length > 0) log.info('ignored in envtest mode', { flags: ignored.map((name) => `--${name}`).join(',') });
  const { stopped, forget } = stopSignal(io);
  try {
    const options = certDir === undefined ? parsed.server : await withCertificates(parsed.server, certDir, clock.now());
    const { startServer } = await import('@plat-dev/compose/server');
    const starting = startServer(options, { clock, log });
    // A signal during the start ends the process: there is no stored state that could be left incomplete.
    const server = await Promise.race([starting, stopped]);
    if (server === undefined) {
      await starting.then(abort, () => {});
      return 0;
    }
    io.out(`serving at ${server.address}\n`);
    const failed = await Promise.race([stopped, server.ended]);
    if (failed instanceof Error) throw failed;
    await abort(server);
    return 0;
  } finally {
    forget();
    log.flush();
  }
}

/** The state is in memory: there is nothing to wait for. */
const abort = (server: RunningServer): Promise<void> => server.abort();

/** Serves `apiserver.crt` of the directory, unless flags name a certificate. As a stock server does, it makes one where there is none. */
async function withCertificates(options: ServerOptions, certDir: string, now: number): Promise<ServerOptions> {
  if (options.tlsCertFile !== undefined) return options;
  const [certificate, key] = [join(certDir, 'apiserver.crt'), join(certDir, 'apiserver.key')];
  if (!existsSync(certificate) || !existsSync(key)) {
    const keys = keysInMemory();
    const authority = await ensureAuthority(keys, 'ca', `${hostname()}-ca`, now);
    const names = servingNames({
      serviceName: kubernetes.serviceName,
      bindAddress: options.bindAddress,
      hostName: hostname(),
      serviceAddress: firstAddress(options.serviceClusterIpRange[0] as string),
      extra: ownAddresses(options),
    });
    const issued = await ensureServing(keys, 'apiserver', authority, names, now);
    makeDirectory(certDir);
    await writeSecretFile(key, issued.key);
    // Clients that trust the file trust the authority in it.
    await writeSecretFile(certificate, `${issued.certificate.trimEnd()}\n${authority.certificate.toString()}`);
  }
  return { ...options, tlsCertFile: certificate, tlsPrivateKeyFile: key };
}
