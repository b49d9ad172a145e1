/** What kinds mean that 1.24 does not have, of groups that it has. */
import type { Descriptions } from './description-texts.ts';

export const newerDescriptions: Descriptions = {
  'authentication.SelfSubjectReview': {
    $: 'Says who the requesting user is, as the server sees it after all of its authenticators and impersonation.',
    status: 'The requesting user. The server fills it in.',
  },
  'authentication.SelfSubjectReviewStatus': {
    $: 'The requesting user.',
    userInfo: 'Name, uid, groups and further attributes of the user.',
  },
  'certificates.ClusterTrustBundle': {
    $: 'Trust anchors that pods can mount. One that belongs to a signer is named after it.',
    spec: 'The signer and the trust anchors.',
  },
  'certificates.ClusterTrustBundleSpec': {
    $: 'The trust anchors of a bundle.',
    signerName: 'The signer whose certificates the anchors verify. It cannot be changed.',
    trustBundle: 'Certificates of authorities as PEM, each once. Their order does not matter.',
  },
  'certificates.PodCertificateRequest': {
    $: 'Asks a signer for a certificate of a pod. Node agents make it, and mount the certificate into the pod.',
    spec: 'The pod, its identity and its key. It cannot be changed.',
    status: 'The certificate, or why there is none.',
  },
  'certificates.PodCertificateRequestSpec': {
    $: 'A request for the certificate of a pod.',
    signerName: 'The signer that is asked.',
    podName: 'The pod that the certificate is for.',
    podUID: 'The uid of the pod.',
    serviceAccountName: 'The service account of the pod.',
    serviceAccountUID: 'The uid of the service account.',
    nodeName: 'The node that the pod runs on.',
    nodeUID: 'The uid of the node.',
    maxExpirationSeconds: 'How long the certificate may be valid, from an hour to 91 days. Defaults to a day.',
    pkixPublicKey: 'The public key of the certificate. Deprecated: use stubPKCS10Request.',
    proofOfPossession: "A signature of the pod's uid by the key. Deprecated: use stubPKCS10Request.",
    stubPKCS10Request: 'An empty certificate request, which the key signs.',
    unverifiedUserAnnotations: 'What the pod says to the signer. The server does not verify it.',
  },
  'certificates.PodCertificateRequestStatus': {
    $: 'The answer of the signer. It cannot be changed.',
    conditions: 'Issued, Denied or Failed.',
    certificateChain: 'The certificate and its authorities as PEM.',
    notBefore: 'The time from which the certificate is valid.',
    beginRefreshAt: 'When the node agent should ask for the next certificate.',
    notAfter: 'The time until which the certificate is valid.',
  },
  'coordination.LeaseCandidate': {
    $: 'A server that could hold a lease. The control plane chooses one of the candidates.',
    spec: 'The lease and the versions of the candidate.',
  },
  'coordination.LeaseCandidateSpec': {
    $: 'The lease and the versions of a candidate.',
    leaseName: 'The lease that the candidate could hold. It cannot be changed.',
    pingTime: 'When the control plane last asked whether the candidate is alive.',
    renewTime: 'When the candidate last answered.',
    binaryVersion: 'The version of the program.',
    emulationVersion: 'The version whose behaviour the program has.',
    strategy: 'How a candidate is chosen: OldestEmulationVersion, or a strategy of another controller with a domain.',
  },
  'meta.GroupResource': {
    $: 'A resource by group and name.',
    group: 'The API group; empty for the core group.',
    resource: 'The resource in plural, such as pods.',
  },
  'storage.VolumeAttributesClass': {
    $: 'Attributes of volumes that may be changed while a volume is in use, under a name that claims can refer to.',
    driverName: 'The driver of the volumes. It cannot be changed.',
    parameters: 'Attributes that only the driver understands, at least one. They cannot be changed.',
  },
};
