/** The types of the variables that expressions about requests have; objects and parameters are known at run time only. */
import {
  AUTHORIZER,
  BOOL,
  type CelType,
  DYN,
  INT,
  listOf,
  mapOf,
  objectOf,
  RESOURCE_CHECK,
  STRING,
  TIMESTAMP,
  type Variables,
} from '@plat-dev/cel';
import { type ApiRelease, isAtLeast } from '@plat-dev/lib/version';

const kindType = objectOf('kubernetes.GroupVersionKind', { group: STRING, version: STRING, kind: STRING });
const resourceType = objectOf('kubernetes.GroupVersionResource', { group: STRING, version: STRING, resource: STRING });
const userType = objectOf('kubernetes.UserInfo', {
  username: STRING,
  uid: STRING,
  groups: listOf(STRING),
  extra: mapOf(STRING, listOf(STRING)),
});
const requestType = objectOf('kubernetes.AdmissionRequest', {
  kind: kindType,
  resource: resourceType,
  subResource: STRING,
  requestKind: kindType,
  requestResource: resourceType,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: userType,
  dryRun: BOOL,
  options: DYN,
});

const texts = mapOf(STRING, STRING);
const namespaceMetadata = objectOf('kubernetes.NamespaceMetadata', {
  name: STRING,
  generateName: STRING,
  namespace: STRING,
  labels: texts,
  annotations: texts,
  UID: STRING,
  creationTimestamp: TIMESTAMP,
  deletionGracePeriodSeconds: INT,
  deletionTimestamp: TIMESTAMP,
  generation: INT,
  resourceVersion: STRING,
  finalizers: listOf(STRING),
});
const namespaceCondition = objectOf('kubernetes.NamespaceCondition', {
  status: STRING,
  type: STRING,
  lastTransitionTime: TIMESTAMP,
  message: STRING,
  reason: STRING,
});
const namespaceType = objectOf('kubernetes.Namespace', {
  metadata: namespaceMetadata,
  spec: objectOf('kubernetes.NamespaceSpec', { finalizers: listOf(STRING) }),
  status: objectOf('kubernetes.NamespaceStatus', { conditions: listOf(namespaceCondition), phase: STRING }),
});

/** What an expression may use besides the object and the request. */
export interface AdmissionVariables {
  readonly params: boolean;
  readonly authorizer: boolean;
  /** Types of the object and of the parameters, where they are known. */
  readonly object?: CelType | undefined;
  readonly paramsType?: CelType | undefined;
}

/** Releases from these on have the variables. */
const AUTHORIZER_SINCE = '1.27';
const NAMESPACE_SINCE = '1.28';

export function admissionVariables(release: ApiRelease, use: AdmissionVariables): Variables {
  const { object = DYN, paramsType = DYN } = use;
  return {
    object,
    oldObject: object,
    request: requestType,
    ...(use.params && { params: paramsType }),
    ...(isAtLeast(release, NAMESPACE_SINCE) && { namespaceObject: namespaceType }),
    ...(use.authorizer && isAtLeast(release, AUTHORIZER_SINCE) && { authorizer: AUTHORIZER, 'authorizer.requestResource': RESOURCE_CHECK }),
  };
}
