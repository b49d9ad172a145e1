/** What a client proves who it is by, where that changes while it runs: made by a plug-in, renewed, or read from a file. */
import { readFile } from 'node:fs/promises';
import type { Clock } from '../lib/clock.ts';

export interface Credential {
  /** Value of the Authorization header. */
  readonly authorization?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

/**
 *   request 1        current() → A, kept      … requests go with A
 *   A expires        current() → B            whoever asks meanwhile waits for the same answer
 *   401 to B         refused(B) → true        a new one is made; the request is sent once more with it
 *   401 to B, late   refused(B) → true        when C is there already, nothing is made
 */
export interface CredentialSource {
  /** The credential of a request that is sent now. Throws an Error for the person at the keyboard. */
  current(): Promise<Credential>;
  /** The server did not accept it. Returns whether there is another one by now. */
  refused(credential: Credential): Promise<boolean>;
}

/** What the process has that a credential may need. */
export interface CredentialEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Whether someone can be asked at standard input. */
  readonly interactive: boolean;
  /** Shows what a plug-in says to the person at the keyboard. */
  show(text: string): void;
}

/** What was made, and when it ends. */
export interface Made {
  readonly credential: Credential;
  /** Milliseconds since 1970; absent: when the server refuses it. */
  readonly until?: number | undefined;
}

/** Keeps what was made until it ends or is refused; makes one at a time, however many ask. */
export function keptSource(make: (refused: Credential | undefined) => Promise<Made>, clock: Clock): CredentialSource {
  let kept: Made | undefined;
  let making: Promise<Made> | undefined;
  const renew = async (refused: Credential | undefined): Promise<Made> => {
    making ??= make(refused).finally(() => {
      making = undefined;
    });
    kept = await making;
    return kept;
  };
  const fresh = (): Made | undefined => (kept?.until !== undefined && kept.until <= clock.now() ? undefined : kept);
  return {
    async current() {
      return (fresh() ?? (await renew(undefined))).credential;
    },
    async refused(credential) {
      if (kept !== undefined && !same(kept.credential, credential)) return true;
      return !same((await renew(credential)).credential, credential);
    },
  };
}
const same = (a: Credential, b: Credential): boolean =>
  a.authorization === b.authorization && a.certificate === b.certificate && a.key === b.key;

/** Tokens in files are replaced before they end; each is read again after this time. */
const REREAD_MS = 10_000;

/** `initial` is the token until the file can be read. */
export function tokenFileSource(path: string, world: Pick<CredentialEnvironment, 'clock'>, initial = ''): CredentialSource {
  let last = initial;
  return keptSource(async () => {
    try {
      last = (await readFile(path, 'utf8')).trim();
    } catch (error) {
      // A file that is being replaced may be away for a moment.
      if (last === '') throw new Error(`the token file ${path} cannot be read: ${(error as Error).message}`);
    }
    return { credential: { authorization: `Bearer ${last}` }, until: world.clock.now() + REREAD_MS };
  }, world.clock);
}
