/** Errors of calls, in the text of stock servers. */
import { isIP } from 'node:net';
import { type Address, authorityOf } from './connect.ts';

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

/** The reason of a failed call or request. `address` is absent if the name could not be resolved. */
export function callFault(error: NodeJS.ErrnoException, address: Address | undefined): string {
  if (address === undefined) return error.message;
  const where = authorityOf(address);
  switch (error.code) {
    case 'ECONNREFUSED':
      return `dial tcp ${where}: connect: connection refused`;
    case 'ETIMEDOUT':
      return `dial tcp ${where}: i/o timeout`;
    case 'EHOSTUNREACH':
      return `dial tcp ${where}: connect: no route to host`;
    case 'ENETUNREACH':
      return `dial tcp ${where}: connect: network is unreachable`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${address.host}: no such host`;
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return `read tcp ${where}: connection reset by peer`;
    case 'UND_ERR_HEADERS_OVERFLOW':
      return 'the head of the answer is too large';
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
      return 'the answer is too large';
    default:
      return certificateFault(error) ?? error.message;
  }
}

/** Why a certificate was not accepted; undefined for other errors. */
function certificateFault(error: NodeJS.ErrnoException): string | undefined {
  switch (error.code) {
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return 'x509: certificate signed by unknown authority';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return nameFault(error as NameError);
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return 'x509: certificate has expired or is not yet valid';
    default:
      return undefined;
  }
}

/** Node's error of a certificate with other names. */
interface NameError extends Error {
  /** The required name or address. */
  readonly host: string;
  readonly cert: { readonly subjectaltname?: string };
}

function nameFault({ host, cert }: NameError): string {
  const isAddress = isIP(host) !== 0;
  const type = isAddress ? 'IP Address:' : 'DNS:';
  const entries = (cert.subjectaltname ?? '').split(', ').filter((entry) => entry.startsWith(type));
  if (entries.length > 0)
    return `x509: certificate is valid for ${entries.map((entry) => entry.slice(type.length)).join(', ')}, not ${host}`;
  return isAddress
    ? `x509: cannot validate certificate for ${host} because it doesn't contain any IP SANs`
    : `x509: certificate is not valid for any names, but wanted to match ${host}`;
}
