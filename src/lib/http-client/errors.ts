/** Errors of calls, in the text of stock servers. */
import type { Address } from './connect.ts';

/** The call timed out. */
export class CallTimeout extends Error {
  constructor() {
    super('context deadline exceeded');
    this.name = 'CallTimeout';
  }
}

/** The server closed the connection. */
export const isClosedError = ({ code }: NodeJS.ErrnoException): boolean =>
  code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';

/** The reason of a failed call. `address` is absent if the name could not be resolved. */
export function callFault(error: NodeJS.ErrnoException, address: Address | undefined): string {
  if (address === undefined) return error.message;
  const { host, port } = address;
  switch (error.code) {
    case 'ECONNREFUSED':
      return `dial tcp ${host}:${port}: connect: connection refused`;
    case 'ENOTFOUND':
      return `dial tcp: lookup ${host}: no such host`;
    case 'ETIMEDOUT':
      return `dial tcp ${host}:${port}: i/o timeout`;
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return `read tcp ${host}:${port}: connection reset by peer`;
    case 'UND_ERR_HEADERS_OVERFLOW':
      return 'the head of the answer is too large';
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
      return 'the answer is too large';
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return 'x509: certificate signed by unknown authority';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `x509: ${error.message}`;
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return 'x509: certificate has expired or is not yet valid';
    default:
      return error.message;
  }
}
