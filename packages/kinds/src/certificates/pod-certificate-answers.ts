/** Validation of the answer to a request for the certificate of a pod: issued, denied or failed, once and for all. */
import type { KeyObject, X509Certificate } from 'node:crypto';
import { equal } from '@plat-dev/lib/equal';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { readBundle } from '@plat-dev/pki';
import type { KindEnv } from '../kind.ts';
import { validateConditions } from '../validation/conditions.ts';
import { each } from '../validation/each.ts';
import { requestedKey, wrong } from './pod-certificate-keys.ts';
import type { PodCertificateRequest, PodCertificateRequestStatus } from './schema/pod-certificate-request.ts';

const at = Path.of('status');
const conditionsAt = at.child('conditions');
const chainAt = at.child('certificateChain');
const answers = ['Issued', 'Denied', 'Failed'];
const MAX_CHAIN_BYTES = 100 * 1024;
const MINUTE = 60_000;

const answerOf = ({ conditions = [] }: PodCertificateRequestStatus): string | undefined =>
  conditions.find(({ type, status }) => answers.includes(type) && status === 'True')?.type;

export function validateAnswer(request: PodCertificateRequest, old: PodCertificateRequest, errors: FieldErrors, env: KindEnv): void {
  const { status } = request;
  validateAnswers(status, errors);
  if (!errors.empty) return;
  const answer = answerOf(status);
  if (answerOf(old.status) !== undefined) {
    if (!equal(status, old.status)) wrong(errors, at, 'immutable after PodCertificateRequest is issued, denied, or failed');
  } else if (answer === 'Issued') validateIssued(request, errors, env);
  else if (answer !== undefined) {
    if (!equal(status, { conditions: status.conditions }))
      wrong(errors, at, 'non-condition status fields must be empty when denying or failing the PodCertificateRequest');
  } else if (!equal(status, old.status)) wrong(errors, at, 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"');
}

function validateAnswers({ conditions }: PodCertificateRequestStatus, errors: FieldErrors): void {
  let count = 0;
  each(conditions, conditionsAt, ({ type, status }, here) => {
    if (!answers.includes(type)) {
      errors.notSupported(here.child('type'), type, answers);
      return;
    }
    count++;
    if (count > 1) errors.invalid(here.child('type'), type, 'There may be at most one condition with type "Issued", "Denied", or "Failed"');
    if (status !== 'True') errors.notSupported(here.child('status'), status, ['True']);
  });
  validateConditions(conditions, conditionsAt, errors);
}

function validateIssued({ spec, status }: PodCertificateRequest, errors: FieldErrors, env: KindEnv): void {
  const { certificateChain: chain = '' } = status;
  if (Buffer.byteLength(chain) > MAX_CHAIN_BYTES) {
    errors.tooLong(chainAt, MAX_CHAIN_BYTES);
    return;
  }
  const faulty = (text: string): void => errors.invalid(chainAt, chain, text);
  if (!/-----BEGIN [^-]*-----/.test(chain)) faulty('issued certificate chain must contain at least one certificate');
  else if (/-----BEGIN (?!CERTIFICATE-----)/.test(chain))
    faulty('issued certificate chain must consist entirely of CERTIFICATE PEM blocks');
  else {
    const [leaf] = certificatesOf(chain) ?? [];
    const key = requestedKey(spec);
    if (leaf === undefined) faulty('leaf certificate does not parse as valid X.509');
    else if (key === undefined || !isFor(leaf, key)) faulty('leaf certificate was not issued to the requested public key');
    else if (hasTimes(status, errors)) validateTimes(leaf, status, spec.maxExpirationSeconds ?? 0, errors, env);
  }
}
function certificatesOf(chain: string): X509Certificate[] | undefined {
  try {
    return readBundle(chain);
  } catch {
    return undefined;
  }
}
const isFor = (leaf: X509Certificate, key: KeyObject): boolean => leaf.publicKey.equals(key);

function hasTimes({ notBefore, notAfter, beginRefreshAt }: PodCertificateRequestStatus, errors: FieldErrors): boolean {
  const consistent = 'must be present and consistent with the issued certificate';
  if (notBefore === undefined) errors.required(at.child('notBefore'), consistent);
  if (notAfter === undefined) errors.required(at.child('notAfter'), consistent);
  if (beginRefreshAt === undefined)
    errors.required(at.child('beginRefreshAt'), 'must be present and in the range [notbefore+10min, notafter-10min]');
  return errors.empty;
}

/** Reports the first time that is wrong. */
function validateTimes(
  leaf: X509Certificate,
  { notBefore = '', notAfter = '', beginRefreshAt = '' }: PodCertificateRequestStatus,
  maxSeconds: number,
  errors: FieldErrors,
  env: KindEnv,
): void {
  const [start, end, refresh] = [notBefore, notAfter, beginRefreshAt].map((text) => Date.parse(text)) as [number, number, number];
  const seconds = (end - start) / 1000;
  const rules: readonly (readonly [boolean, string, unknown, string])[] = [
    [start === Date.parse(leaf.validFrom), 'notBefore', notBefore, 'must be set to the NotBefore time encoded in the leaf certificate'],
    [Math.abs(start - env.now()) < 5 * MINUTE, 'notBefore', notBefore, "must be set to within 5 minutes of kube-apiserver's current time"],
    [end === Date.parse(leaf.validTo), 'notAfter', notAfter, 'must be set to the NotAfter time encoded in the leaf certificate'],
    [seconds >= 3600, 'certificateChain', seconds, 'leaf certificate lifetime must be >= 1 hour'],
    [seconds <= maxSeconds, 'certificateChain', seconds, `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${maxSeconds})`],
    [refresh >= start + 10 * MINUTE, 'beginRefreshAt', beginRefreshAt, 'must be at least 10 minutes after status.notBefore'],
    [refresh <= end - 10 * MINUTE, 'beginRefreshAt', beginRefreshAt, 'must be at least 10 minutes before status.notAfter'],
  ];
  const broken = rules.find(([holds]) => !holds);
  if (broken !== undefined) errors.invalid(at.child(broken[1]), broken[2], broken[3]);
}
