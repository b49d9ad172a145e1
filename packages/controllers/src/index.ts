/** The controllers, by the names of the stock controller manager. */
import { type ApiRelease, isAtLeast } from '@plat-dev/lib/version';
import { bootstrapSigner } from './bootstrap/signer.ts';
import { tokenCleaner } from './bootstrap/token-cleaner.ts';
import { certificateApprover } from './certificates/approver.ts';
import { certificateCleaner } from './certificates/cleaner.ts';
import { certificateSigner, type SignerSettings } from './certificates/signer.ts';
import { clusterRoleAggregation } from './cluster-role-aggregation.ts';
import { disruptionController } from './disruption.ts';
import { endpointSliceController } from './endpoints/endpoint-slices.ts';
import { endpointsController } from './endpoints/endpoints.ts';
import { endpointSliceMirroring } from './endpoints/mirroring.ts';
import { garbageCollector } from './garbage/controller.ts';
import { legacyTokenCleaner } from './legacy-token-cleaner.ts';
import { namespaceController } from './namespace/controller.ts';
import { serviceRanges } from './network/service-ranges.ts';
import { policyTypeChecking } from './policy-type-checking.ts';
import { resourceQuotaController } from './quota/controller.ts';
import { rootCAPublisher } from './root-ca-publisher.ts';
import type { Controller } from './runtime/controller.ts';
import { serviceAccountController } from './service-account.ts';
import { serviceAccountTokenController, type TokenSettings } from './service-account-token.ts';
import { attributesProtection, claimProtection, volumeProtection } from './storage/protection.ts';
import { storageVersionCollector } from './storage-version-collector.ts';
import { ttlAfterFinished } from './ttl-after-finished.ts';

export interface ControllerSettings {
  /** PEM of the authorities that clients within the cluster trust this server by. */
  readonly rootCertificates: string;
  /** Absent: no token is put into Secrets. */
  readonly signToken?: TokenSettings['sign'];
  readonly signing: SignerSettings;
  /** How long a namespace is left alone after its deletion began. */
  readonly namespaceDelayMs: number;
  /** How long an object that leaves its dependents behind is left alone. */
  readonly orphanDelayMs: number;
  /** The server accepts bootstrap tokens, and publishes `cluster-info` for those who hold one. */
  readonly bootstrapTokens: boolean;
  /** Servers say in which versions they store objects. */
  readonly storageVersions: boolean;
  /** Of the API, where it is known. */
  readonly release?: ApiRelease;
  /** Whether a feature is on. */
  readonly feature: (name: string) => boolean;
}

/** Policies have a status. */
const TYPE_CHECKING_SINCE = '1.27';

export function allControllers(settings: ControllerSettings): readonly Controller[] {
  const { rootCertificates, signToken, feature } = settings;
  const generate = !feature('LegacyServiceAccountTokenNoAutoGeneration');
  return [
    namespaceController({ delayMs: settings.namespaceDelayMs, podsFirst: feature('OrderedNamespaceDeletion') }),
    garbageCollector({ settleMs: settings.orphanDelayMs }),
    // Before the accounts: programs that wait for a namespace's default account also expect the certificates there, and in its quotas.
    rootCAPublisher(rootCertificates),
    serviceAccountController,
    serviceAccountTokenController(signToken === undefined ? undefined : { sign: signToken, rootCertificates, generate }),
    clusterRoleAggregation,
    resourceQuotaController,
    claimProtection,
    volumeProtection,
    attributesProtection,
    serviceRanges,
    certificateApprover,
    certificateSigner(settings.signing),
    certificateCleaner,
    { ...bootstrapSigner, onByDefault: settings.bootstrapTokens },
    tokenCleaner,
    ttlAfterFinished,
    ...(feature('LegacyServiceAccountTokenCleanUp') ? [legacyTokenCleaner] : []),
    disruptionController,
    endpointsController,
    endpointSliceController({
      terminating: feature('EndpointSliceTerminatingCondition'),
      hints: feature('TopologyAwareHints'),
    }),
    endpointSliceMirroring,
    ...(settings.release !== undefined && isAtLeast(settings.release, TYPE_CHECKING_SINCE) ? [policyTypeChecking(settings.release)] : []),
    ...(settings.storageVersions ? [storageVersionCollector] : []),
  ];
}
