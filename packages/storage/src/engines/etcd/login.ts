/**
 * The token of a user of etcd. It is fetched with the password before the first call, and again when etcd no longer accepts it: tokens
 * expire, and a member that was restarted has forgotten them. The password is read from its file each time, so that it can be changed.
 */
import { readFileSync } from 'node:fs';
import { CallFailure } from './errors.ts';
import { authenticate, encodeAuthenticate, type Method } from './messages.ts';
import { METADATA } from './options.ts';

export interface EtcdUser {
  readonly name: string;
  readonly passwordFile: string;
}

/** One call to etcd, without a token. Rejects with CallFailure. */
export type LoginCall = <Response>(method: Method<Response>, request: Buffer) => Promise<Response>;

export class Login {
  readonly #user: EtcdUser;
  /** Headers of every call; another object with each token. */
  metadata: Readonly<Record<string, string>> = METADATA;
  #isCurrent = false;
  #renewing: Promise<void> | undefined;

  constructor(user: EtcdUser) {
    this.#user = user;
  }

  /** Whether calls can be made; otherwise `renew` must be called first. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  /** Etcd has refused the token: it refuses any call that has it, also the one that fetches another. */
  refused(): void {
    this.#isCurrent = false;
    this.metadata = METADATA;
  }

  /** Fetches a token; callers share one attempt. Rejects with CallFailure. */
  renew(call: LoginCall): Promise<void> {
    this.#renewing ??= this.#fetch(call).finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #fetch(call: LoginCall): Promise<void> {
    const { name } = this.#user;
    try {
      const token = await call(authenticate, encodeAuthenticate(name, this.#password()));
      this.metadata = { ...METADATA, token };
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error;
      // Then etcd asks nobody who they are.
      if (/authentication is not enabled/.test(error.message)) this.metadata = METADATA;
      else if (error.reason === 'refused')
        throw new CallFailure('refused', `etcd refuses the user ${JSON.stringify(name)}: ${error.message}`, false, { cause: error });
      else throw error;
    }
    this.#isCurrent = true;
  }

  #password(): string {
    const { passwordFile } = this.#user;
    try {
      return readFileSync(passwordFile, 'utf8').replace(/\r?\n$/, '');
    } catch (error) {
      throw new CallFailure('refused', `the password for etcd cannot be read: ${(error as Error).message}`, false, { cause: error });
    }
  }
}
