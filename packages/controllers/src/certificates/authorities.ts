/** The CA of each signer: its own if files are named for it, else the common one. */
import { readFileSync } from 'node:fs';
import type { Identity } from '@plat-dev/meta/identity';
import { type Authority, canBeRoot, readAuthority } from '@plat-dev/pki';

/** The flags that name the files, as options. */
export interface SigningFiles {
  readonly clusterSigningCertFile: string | undefined;
  readonly clusterSigningKeyFile: string | undefined;
  readonly clusterSigningKubeApiserverClientCertFile: string | undefined;
  readonly clusterSigningKubeApiserverClientKeyFile: string | undefined;
  readonly clusterSigningKubeletClientCertFile: string | undefined;
  readonly clusterSigningKubeletClientKeyFile: string | undefined;
  readonly clusterSigningKubeletServingCertFile: string | undefined;
  readonly clusterSigningKubeletServingKeyFile: string | undefined;
  readonly clusterSigningLegacyUnknownCertFile: string | undefined;
  readonly clusterSigningLegacyUnknownKeyFile: string | undefined;
}

/** Reads the files at once, so that an invalid one is found at the start. `own` signs if no files are named. */
export function signingAuthorities(
  files: SigningFiles,
  { signers }: Identity,
  own: Authority | undefined,
): (signerName: string) => Authority | undefined {
  const general = readFiles(files.clusterSigningCertFile, files.clusterSigningKeyFile) ?? own;
  const special = new Map([
    [signers.apiserverClient, readFiles(files.clusterSigningKubeApiserverClientCertFile, files.clusterSigningKubeApiserverClientKeyFile)],
    [signers.apiserverClientNodeagent, readFiles(files.clusterSigningKubeletClientCertFile, files.clusterSigningKubeletClientKeyFile)],
    [signers.nodeagentServing, readFiles(files.clusterSigningKubeletServingCertFile, files.clusterSigningKubeletServingKeyFile)],
    [signers.legacyUnknown, readFiles(files.clusterSigningLegacyUnknownCertFile, files.clusterSigningLegacyUnknownKeyFile)],
  ]);
  return (name) => special.get(name) ?? general;
}

function readFiles(certificateFile: string | undefined, keyFile: string | undefined): Authority | undefined {
  if (certificateFile === undefined || keyFile === undefined) return undefined;
  const authority = readAuthority({ certificate: readFileSync(certificateFile, 'utf8'), key: readFileSync(keyFile, 'utf8') });
  if (!canBeRoot(authority.certificate)) throw new Error(`${certificateFile} is not the certificate of an authority`);
  if (!authority.certificate.checkPrivateKey(authority.key)) throw new Error(`${certificateFile} and ${keyFile} do not belong together`);
  return authority;
}
