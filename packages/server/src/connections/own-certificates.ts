/**
 * The serving certificates of this server. A peer with one of them is this
 * server itself: nothing may be sent there with this server's own credentials.
 */
import { hash, X509Certificate } from 'node:crypto';

export class OwnCertificates {
  private readonly read: () => readonly string[];
  private pems: readonly string[] = [];
  private keys: ReadonlySet<string> = new Set();

  /** `read` returns the current PEM texts of the certificates: they may change while the server runs. */
  constructor(read: () => readonly string[]) {
    this.read = read;
  }

  /** Certificates are compared by their keys: a renewed one for the same key is still this server's. */
  has(certificate: X509Certificate): boolean {
    const pems = this.read();
    if (pems.length !== this.pems.length || pems.some((pem, i) => pem !== this.pems[i])) {
      this.pems = [...pems];
      this.keys = new Set(pems.map((pem) => keyOf(new X509Certificate(pem))));
    }
    return this.keys.has(keyOf(certificate));
  }
}

const keyOf = ({ publicKey }: X509Certificate): string => hash('sha256', publicKey.export({ type: 'spki', format: 'der' }), 'base64url');

/** The error of a connection that leads back to this server. */
export class OwnServer extends Error {
  constructor() {
    super('the address leads to this server itself');
    this.name = 'OwnServer';
  }
}
