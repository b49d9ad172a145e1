/**
 * How a request for the certificate of a pod shows its key: as an empty certificate request that the key signs, or, deprecated, as the key
 * and a signature of the pod's uid.
 */
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { parseRequest, toPem } from '@plat-dev/pki';
import type { KindEnv } from '../kind.ts';
import { goBytes } from '../validation/go-list.ts';
import { invalidText } from '../validation/go-text.ts';
import type { PodCertificateRequestSpec } from './schema/pod-certificate-request.ts';

const keyAt = Path.of('spec', 'pkixPublicKey');
const proofAt = Path.of('spec', 'proofOfPossession');
const requestAt = Path.of('spec', 'stubPKCS10Request');
const MAX_BYTES = 10 * 1024;
const curves: readonly (string | undefined)[] = ['prime256v1', 'secp384r1', 'secp521r1'];
const rsaBits: readonly (number | undefined)[] = [3072, 4096];

const bytesOf = (base64: string | undefined): Buffer => Buffer.from(base64 ?? '', 'base64');
/** An error without a value. */
export const wrong = (errors: FieldErrors, at: Path, detail: string): void =>
  errors.add('FieldValueInvalid', at, `Invalid value: ${detail}`);

export function validateKeys(spec: PodCertificateRequestSpec, errors: FieldErrors, env: KindEnv): void {
  const [key, proof, stub] = [spec.pkixPublicKey, spec.proofOfPossession, spec.stubPKCS10Request].map(bytesOf) as [Buffer, Buffer, Buffer];
  if (stub.length > 0 && key.length === 0 && proof.length === 0) validateStub(stub, errors);
  else if (stub.length === 0 && ((key.length > 0 && proof.length > 0) || !env.since('1.36'))) validateKey(spec, key, proof, errors);
  else wrong(errors, Path.of('spec'), 'exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set');
}

function validateStub(stub: Buffer, errors: FieldErrors): void {
  if (stub.length > MAX_BYTES) {
    errors.tooLong(requestAt, MAX_BYTES);
    return;
  }
  try {
    const { signed, publicKey } = parseRequest(toPem('CERTIFICATE REQUEST', stub));
    if (!validateKind(publicKey, requestAt, 'P256, P384, or P521', errors)) return;
    if (!signed) wrong(errors, requestAt, 'invalid signature');
  } catch {
    wrong(errors, requestAt, 'must be a valid PKCS#10 CSR');
  }
}

function validateKey({ pkixPublicKey, podUID }: PodCertificateRequestSpec, key: Buffer, proof: Buffer, errors: FieldErrors): void {
  for (const [at, bytes] of [
    [keyAt, key],
    [proofAt, proof],
  ] as const)
    if (bytes.length > MAX_BYTES) {
      errors.tooLong(at, MAX_BYTES);
      return;
    }
  const publicKey = readKey(pkixPublicKey);
  if (publicKey === undefined) invalidText(errors, keyAt, goBytes(pkixPublicKey), 'must be a valid PKIX-serialized public key');
  else if (validateKind(publicKey, keyAt, 'P256 or P384', errors) && !proves(publicKey, Buffer.from(podUID), proof))
    wrong(errors, proofAt, 'could not verify proof-of-possession signature');
}

/** The key of a request; undefined if it cannot be read. */
function readKey(base64: string | undefined): KeyObject | undefined {
  try {
    return createPublicKey({ key: bytesOf(base64), format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}
/** The key that a certificate must be issued to. */
export function requestedKey({ stubPKCS10Request: stub = '', pkixPublicKey }: PodCertificateRequestSpec): KeyObject | undefined {
  if (stub === '') return readKey(pkixPublicKey);
  try {
    return parseRequest(toPem('CERTIFICATE REQUEST', bytesOf(stub))).publicKey;
  } catch {
    return undefined;
  }
}

function validateKind(key: KeyObject, at: Path, curveNames: string, errors: FieldErrors): boolean {
  const { asymmetricKeyType: type, asymmetricKeyDetails: { namedCurve, modulusLength } = {} } = key;
  if (type === 'ed25519') return true;
  if (type === 'ec' && curves.includes(namedCurve)) return true;
  if (type === 'rsa' && rsaBits.includes(modulusLength)) return true;
  if (type === 'ec') errors.invalid(at, `curve ${namedCurve}`, `elliptic public keys must use curve ${curveNames}`);
  else if (type === 'rsa') errors.invalid(at, `${modulusLength}-bit modulus`, 'RSA keys must have modulus size 3072 or 4096');
  else wrong(errors, at, 'unknown public key type; supported types are Ed25519, ECDSA, and RSA');
  return false;
}

function proves(key: KeyObject, text: Buffer, signature: Buffer): boolean {
  if (key.asymmetricKeyType === 'ed25519') return verify(null, text, key, signature);
  if (key.asymmetricKeyType === 'ec') return verify('sha256', text, key, signature);
  return verify('sha256', text, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO }, signature);
}
