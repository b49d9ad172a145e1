/** What users read about calls to webhooks, other servers, nodes, pods and services. */
import { expect, test } from 'vitest';
import { callFault } from './errors.ts';

const RESET = 'read tcp [fd00::1]:443: connection reset by peer';
const UNKNOWN = 'x509: certificate signed by unknown authority';
const EXPIRED = 'x509: certificate has expired or is not yet valid';

test.each([
  ['ECONNREFUSED', 'dial tcp [fd00::1]:443: connect: connection refused'],
  ['ETIMEDOUT', 'dial tcp [fd00::1]:443: i/o timeout'],
  ['EHOSTUNREACH', 'dial tcp [fd00::1]:443: connect: no route to host'],
  ['ENETUNREACH', 'dial tcp [fd00::1]:443: connect: network is unreachable'],
  ['ECONNRESET', RESET],
  ['EPIPE', RESET],
  ['UND_ERR_SOCKET', RESET],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNKNOWN],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNKNOWN],
  ['CERT_HAS_EXPIRED', EXPIRED],
  ['CERT_NOT_YET_VALID', EXPIRED],
  ['UNHEARD_OF', 'no text of ours'],
])('%s', (code, text) => {
  expect(callFault(Object.assign(new Error('no text of ours'), { code }), { host: 'fd00::1', port: 443 })).toBe(text);
});

test.each(['ENOTFOUND', 'EAI_AGAIN'])('a name without an address: %s', (code) => {
  const error = Object.assign(new Error('getaddrinfo'), { code });
  expect(callFault(error, { host: 'hook.example', port: 443 })).toBe('dial tcp: lookup hook.example: no such host');
  // The name of a service that could not be resolved stands in the message itself.
  expect(callFault(error, undefined)).toBe('getaddrinfo');
});

test.each([
  ['a.example', 'DNS:b.example, IP Address:10.0.0.1, DNS:*.c.example', 'certificate is valid for b.example, *.c.example, not a.example'],
  ['10.0.0.2', 'DNS:b.example, IP Address:10.0.0.1', 'certificate is valid for 10.0.0.1, not 10.0.0.2'],
  ['10.0.0.2', 'DNS:b.example', "cannot validate certificate for 10.0.0.2 because it doesn't contain any IP SANs"],
  ['a.example', undefined, 'certificate is not valid for any names, but wanted to match a.example'],
])('a certificate of other names than %s: %s', (host, subjectaltname, text) => {
  const error = Object.assign(new Error(), { code: 'ERR_TLS_CERT_ALTNAME_INVALID', host, cert: { subjectaltname } });
  expect(callFault(error, { host: '10.0.0.2', port: 443 })).toBe(`x509: ${text}`);
});
