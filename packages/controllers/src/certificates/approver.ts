/**
 * Approves client certificate requests of node agents, and nothing else, if the requester is allowed: for
 * any node (`nodeclient`), or for its own node (`selfnodeclient`).
 */

import { unlessGoneOrReplaced } from '@plat-dev/client/http';
import { keyOf, splitKey } from '@plat-dev/client/informer';
import type { SubjectAccessReview } from '@plat-dev/kinds/authorization/schema/v1';
import type { Wire } from '@plat-dev/kinds/wire';
import { apiVersionOf } from '@plat-dev/meta/api-version';
import { groupName } from '@plat-dev/meta/identity';
import { type CertificateRequest, parseRequest } from '@plat-dev/pki';
import { builtin, type Controller } from '../runtime/controller.ts';
import { conditionOf, pemOf, requestsRef, type SigningRequest, withCondition } from './request.ts';
import { firstProblem, signerRules } from './signer-rules.ts';

type AccessReview = Wire<SubjectAccessReview>;
interface Way {
  readonly subresource: string;
  readonly message: string;
  fits(request: SigningRequest, parsed: CertificateRequest): boolean;
}

const ways: readonly Way[] = [
  {
    subresource: 'selfnodeclient',
    message: 'Auto approving self kubelet client certificate after SubjectAccessReview.',
    fits: (request, parsed) => request.spec.username === parsed.subject.commonName,
  },
  {
    subresource: 'nodeclient',
    message: 'Auto approving kubelet client certificate after SubjectAccessReview.',
    fits: () => true,
  },
];

export const certificateApprover: Controller = {
  name: 'csrapproving',
  account: 'certificate-controller',
  start({ informers, queue, client, identity, clock, log }) {
    const ref = requestsRef(identity);
    const reviews = builtin(identity, 'authorization', 'v1', 'subjectaccessreviews', false);
    const signer = identity.signers.apiserverClientNodeagent;
    const rules = signerRules(identity).get(signer) ?? [];
    const requests = informers.of<SigningRequest>(ref);
    const mayHave = async ({ spec }: SigningRequest, subresource: string): Promise<boolean> => {
      const { username: user = '', uid, groups, extra } = spec;
      const resourceAttributes = {
        group: groupName(identity, 'certificates'),
        resource: ref.name,
        verb: 'create',
        subresource,
        version: '*',
      };
      const review = await client.create<AccessReview>(reviews, '', {
        kind: 'SubjectAccessReview',
        apiVersion: apiVersionOf(reviews),
        spec: { user, ...(uid !== undefined && { uid }), ...(groups && { groups }), ...(extra && { extra }), resourceAttributes },
      });
      return review.status?.allowed === true;
    };
    const work = queue(
      async (key) => {
        const request = requests.get('', splitKey(key).name);
        if (request === undefined || request.spec.signerName !== signer || (request.status?.certificate ?? '') !== '') return;
        if (conditionOf(request, 'Approved') !== undefined || conditionOf(request, 'Denied') !== undefined) return;
        const parsed = parseRequest(pemOf(request.spec.request));
        if (firstProblem(rules, parsed, request.spec.usages ?? []) !== undefined) return;
        for (const way of ways) {
          if (!way.fits(request, parsed) || !(await mayHave(request, way.subresource))) continue;
          const approved = withCondition(request, 'Approved', 'AutoApproved', way.message, clock.now());
          await client.update(ref, approved, 'approval').catch(unlessGoneOrReplaced);
          return;
        }
        log.debug(4, 'certificate request of a node agent needs approval', { request: request.metadata.name });
        // Permission may be granted later; the longer a request has waited, the less often it is checked.
        const age = clock.now() - Date.parse(request.metadata.creationTimestamp ?? '');
        return Math.min(Math.max(age, 500), 600_000);
      },
      { after: [requests.synced], firstRetryMs: 200 },
    );
    requests.onChange(({ type, object }) => {
      if (type !== 'deleted') work.add(keyOf(object));
    });
  },
};
