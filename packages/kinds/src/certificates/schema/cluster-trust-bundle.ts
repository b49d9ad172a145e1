/** Trust anchors for all pods. */
import { always, type Infer, message, object, opt, req, string } from '@plat-dev/schema/types';
import { ObjectMeta } from '../../meta.ts';
import { inVersion } from '../../versions.ts';

const ClusterTrustBundleSpec = message('certificates.v1beta1.ClusterTrustBundleSpec', {
  signerName: opt(1, string),
  trustBundle: req(2, string),
});

export const ClusterTrustBundle = object('certificates.v1beta1.ClusterTrustBundle', {
  metadata: always(1, ObjectMeta),
  spec: req(2, ClusterTrustBundleSpec),
});
export type ClusterTrustBundle = Infer<typeof ClusterTrustBundle>;

export const ClusterTrustBundleV1alpha1 = inVersion(ClusterTrustBundle, 'certificates.v1alpha1');
