/** A server on a store that is not in use, while objects are imported: they are validated and stored as any others. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '@plat-dev/lib/log';
import { serverOptions } from '../config/server-options.ts';
import { startServer } from '../server.ts';
import { explained, type Place } from './store-tools.ts';

/** `work` gets the kubeconfig of the administrator. */
export async function withPrivateServer<T>(place: Place, identity: string, work: (kubeconfig: string) => Promise<T>): Promise<T> {
  // A server on etcd keeps nothing on this machine.
  const temporaryDirectory = place.type === 'etcd' ? mkdtempSync(join(tmpdir(), 'plat-import-')) : undefined;
  try {
    const options = serverOptions({
      ...storeOf(place, temporaryDirectory),
      identity,
      securePort: 0,
      // Controllers would act on a partial state.
      controllers: ['-*'],
    });
    const server = await explained(
      () => startServer(options, { log: silentLog }),
      'or leave --data-dir out: then the running server is asked',
    );
    try {
      return await work(server.adminConfigPath as string);
    } finally {
      await server.close();
    }
  } finally {
    if (temporaryDirectory !== undefined) rmSync(temporaryDirectory, { recursive: true, force: true });
  }
}

function storeOf(place: Place, temporaryDirectory: string | undefined) {
  if (place.type === 'directory') return { store: 'lmdb', dataDir: place.dataDir } as const;
  const { servers, prefix, caFile, certFile, keyFile, username, passwordFile } = place.etcd;
  return {
    store: 'etcd',
    dataDir: temporaryDirectory as string,
    etcdServers: servers,
    ...(prefix !== undefined && { etcdPrefix: prefix }),
    etcdCafile: caFile,
    etcdCertfile: certFile,
    etcdKeyfile: keyFile,
    ...(username !== undefined && { etcdUsername: username }),
    etcdPasswordFile: passwordFile,
  } as const;
}
