/** Candidates for a lease: servers that could hold it. */
import { always, type Infer, message, microTime, object, opt, ptr, req, string } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';

const LeaseCandidateSpec = message('coordination.v1beta1.LeaseCandidateSpec', {
  leaseName: req(1, string),
  pingTime: ptr(2, microTime),
  renewTime: ptr(3, microTime),
  binaryVersion: req(4, string),
  emulationVersion: opt(5, string),
  strategy: opt(6, string, { required: true }),
});

export const LeaseCandidate = object('coordination.v1beta1.LeaseCandidate', {
  metadata: always(1, ObjectMeta),
  spec: always(2, LeaseCandidateSpec, { from: { '1.36': { required: true } } }),
});
export type LeaseCandidate = Infer<typeof LeaseCandidate>;

export const LeaseCandidateV1alpha2 = inVersion(LeaseCandidate, 'coordination.v1alpha2');
