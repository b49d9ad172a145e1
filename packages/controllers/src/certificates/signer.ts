/** Signs approved requests for the built-in signers, each with its own CA, and records the reason of a failure. */
import { unlessGone } from '@plat-dev/client/http';
import { keyOf, splitKey } from '@plat-dev/client/informer';
import { type Authority, type CertificateRequest, issue, parseRequest } from '@plat-dev/pki';
import type { Controller } from '../runtime/controller.ts';
import { conditionOf, isApproved, isIssued, pemOf, requestsRef, type SigningRequest, withCondition } from './request.ts';
import { firstProblem, signerRules, usagesOf } from './signer-rules.ts';

export interface SignerSettings {
  /** The CA of a signer; requests without one are ignored. */
  readonly authorityOf: (signerName: string) => Authority | undefined;
  /** Maximum lifetime of a certificate. */
  readonly durationMs: number;
}

const MINUTE = 60_000;
/** Certificates are backdated a little, for clients whose clocks are behind. Short-lived ones keep their full lifetime. */
const BACKDATE_MS = 5 * MINUTE;
const SHORT_MS = 8 * 60 * MINUTE;
const SHORTEST_MS = 10 * MINUTE;

export function lifeOf(expirationSeconds: number | undefined, durationMs: number): number {
  if (expirationSeconds === undefined) return durationMs;
  return Math.min(Math.max(expirationSeconds * 1000, SHORTEST_MS), durationMs);
}

function signRequest(authority: Authority, parsed: CertificateRequest, request: SigningRequest, durationMs: number, now: number): string {
  const life = lifeOf(request.spec.expirationSeconds, durationMs);
  if (now >= Date.parse(authority.certificate.validTo)) throw new Error('the signer has expired');
  return issue(authority, {
    subject: parsed.subjectBytes,
    publicKey: parsed.publicKey,
    names: parsed.names,
    ...usagesOf(request.spec.usages ?? []),
    notBefore: now - BACKDATE_MS,
    notAfter: now + life - (life < SHORT_MS ? 0 : BACKDATE_MS),
  });
}

export function certificateSigner({ authorityOf, durationMs }: SignerSettings): Controller {
  return {
    name: 'csrsigning',
    account: 'certificate-controller',
    start({ informers, queue, client, identity, clock, log }) {
      const ref = requestsRef(identity);
      const rules = signerRules(identity);
      const requests = informers.of<SigningRequest>(ref);
      const decide = (request: SigningRequest, authority: Authority): SigningRequest => {
        const { signerName, usages = [] } = request.spec;
        const now = clock.now();
        const parsed = parseRequest(pemOf(request.spec.request));
        const problem = firstProblem(rules.get(signerName) ?? [], parsed, usages);
        if (problem !== undefined) return withCondition(request, 'Failed', 'SignerValidationFailure', problem, now);
        const certificate = signRequest(authority, parsed, request, durationMs, now);
        return { ...request, status: { ...request.status, certificate: Buffer.from(certificate).toString('base64') } };
      };
      const work = queue(
        async (key) => {
          const request = requests.get('', splitKey(key).name);
          if (request === undefined || !isApproved(request) || isIssued(request) || conditionOf(request, 'Failed') !== undefined) return;
          const authority = rules.has(request.spec.signerName) ? authorityOf(request.spec.signerName) : undefined;
          if (authority === undefined) return;
          const answeredRequest = decide(request, authority);
          await client.update(ref, answeredRequest, 'status').catch(unlessGone);
          const failed = conditionOf(answeredRequest, 'Failed');
          if (failed === undefined) return;
          const { signerName, username } = request.spec;
          const { reason, message } = failed;
          log.warn('certificate not signed', { request: splitKey(key).name, signer: signerName, user: username, reason, message });
        },
        { after: [requests.synced], firstRetryMs: 200 },
      );
      requests.onChange(({ type, object }) => {
        if (type !== 'deleted') work.add(keyOf(object));
      });
    },
  };
}
