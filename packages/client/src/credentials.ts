/** Credentials that change while the client runs: made by a plug-in, renewed, or read from a file. */
import { readFile } from 'node:fs/promises';
import type { Clock } from '@plat-dev/lib/clock';

export interface Credential {
  /** Value of the Authorization header. */
  readonly authorization?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

/**
 *   request 1        current() → A, kept      … requests go with A
 *   A expires        current() → B            concurrent callers wait for the same result
 *   401 to B         refused(B) → true        a new one is made; the request is sent once more with it
 *   401 to B, late   refused(B) → true        when C is there already, nothing is made
 */
export interface CredentialSource {
  /** The credential for a request that is sent now. Throws an Error for the user of the command line. */
  current(): Promise<Credential>;
  /** The server did not accept it. Returns whether there is another one by now. */
  refused(credential: Credential): Promise<boolean>;
}

/** The facilities of the process that a credential may need. */
export interface CredentialEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Whether a user can be prompted at standard input. */
  readonly interactive: boolean;
  /** Standard input is read by the command itself. */
  readonly stdinTaken?: boolean;
  /** Shows messages of a plug-in to the user. */
  show(text: string): void;
}

/** A credential, and when it expires. */
export interface RenewedCredential {
  readonly credential: Credential;
  /** Milliseconds since 1970; absent: when the server refuses it. */
  readonly until?: number | undefined;
}

/** Caches a credential until it expires or is refused; makes one at a time, however many callers wait. */
export function keptSource(make: (refused: Credential | undefined) => Promise<RenewedCredential>, clock: Clock): CredentialSource {
  let current: RenewedCredential | undefined;
  let making: Promise<RenewedCredential> | undefined;
  const renew = async (refused: Credential | undefined): Promise<RenewedCredential> => {
    making ??= make(refused).finally(() => {
      making = undefined;
    });
    current = await making;
    return current;
  };
  const fresh = (): RenewedCredential | undefined => (current?.until !== undefined && current.until <= clock.now() ? undefined : current);
  return {
    async current() {
      return (fresh() ?? (await renew(undefined))).credential;
    },
    async refused(credential) {
      if (current !== undefined && !same(current.credential, credential)) return true;
      return !same((await renew(credential)).credential, credential);
    },
  };
}
const same = (a: Credential, b: Credential): boolean =>
  a.authorization === b.authorization && a.certificate === b.certificate && a.key === b.key;

/** Tokens in files are replaced before they expire; each is read again after this time. */
const REREAD_MS = 10_000;

/** `initial` is the token until the file can be read. */
export function tokenFileSource(path: string, world: Pick<CredentialEnvironment, 'clock'>, initial = ''): CredentialSource {
  let last = initial;
  return keptSource(async () => {
    try {
      last = (await readFile(path, 'utf8')).trim();
    } catch (error) {
      // A file that is being replaced may be missing for a moment.
      if (last === '') throw new Error(`the token file ${path} cannot be read: ${(error as Error).message}`);
    }
    return { credential: { authorization: `Bearer ${last}` }, until: world.clock.now() + REREAD_MS };
  }, world.clock);
}
