/** Requests for certificates of pods. A signer answers by the status, once. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { nameIsSubdomain } from '@plat-dev/meta/names';
import { nameCell } from '../cells.ts';
import { nameColumn } from '../columns.ts';
import { type KindEnv, kind } from '../kind.ts';
import { keepMetadata, status } from '../subresources.ts';
import { immutable, report } from '../validation/field-checks.ts';
import { validateAnnotations } from '../validation/metadata.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { validateAnswer } from './pod-certificate-answers.ts';
import { validateKeys } from './pod-certificate-keys.ts';
import { PodCertificateRequest, type PodCertificateRequestSpec, PodCertificateRequestV1alpha1 } from './schema/pod-certificate-request.ts';
import { validateSignerName } from './signer-names.ts';

const at = Path.of('spec');
const MAX_UID_BYTES = 128;
const HOUR = 3600;
const MAX_OWN_SECONDS = 24 * HOUR;
const MAX_SECONDS = 91 * 24 * HOUR;

function validate({ spec }: PodCertificateRequest, errors: FieldErrors, env: KindEnv): void {
  validateSignerName(spec.signerName, at.child('signerName'), errors);
  validateAnnotations(spec.unverifiedUserAnnotations, at.child('unverifiedUserAnnotations'), errors);
  for (const [name, uid] of [
    ['podName', 'podUID'],
    ['serviceAccountName', 'serviceAccountUID'],
    ['nodeName', 'nodeUID'],
  ] as const) {
    report(errors, at.child(name), spec[name], nameIsSubdomain(spec[name]));
    validateUid(spec[uid], at.child(uid), errors);
  }
  if (validateExpiration(spec, errors, env)) validateKeys(spec, errors, env);
}

function validateUid(uid: string, here: Path, errors: FieldErrors): void {
  if (uid === '') errors.invalid(here, uid, 'must not be empty');
  if (Buffer.byteLength(uid) > MAX_UID_BYTES) errors.tooLong(here, MAX_UID_BYTES);
}

/** Whether there is a time at all; without one nothing else is checked. */
function validateExpiration(
  { signerName, maxExpirationSeconds: seconds }: PodCertificateRequestSpec,
  errors: FieldErrors,
  env: KindEnv,
): boolean {
  const here = at.child('maxExpirationSeconds');
  if (seconds === undefined) {
    errors.required(here, 'must be set');
    return false;
  }
  const [domain = ''] = signerName.split('/');
  const isOwn = domain === env.identity.domain || domain.endsWith(`.${env.identity.domain}`);
  const most = isOwn ? MAX_OWN_SECONDS : MAX_SECONDS;
  if (seconds < HOUR || seconds > most) errors.invalid(here, seconds, `must be in the range [${HOUR}, ${most}]`);
  return true;
}

const answers = ['Issued', 'Denied', 'Failed'];
const stateCell = ({ status: { conditions = [] } }: PodCertificateRequest): string =>
  conditions.filter(({ type }) => answers.includes(type)).at(-1)?.type ?? 'Pending';

export const PodCertificateRequestKind = kind<PodCertificateRequest>({
  group: 'certificates',
  kind: 'PodCertificateRequest',
  plural: 'podcertificaterequests',
  scope: 'Namespaced',
  versions: { v1beta1: { schema: PodCertificateRequest }, v1alpha1: { schema: PodCertificateRequestV1alpha1 } },
  hub: 'v1beta1',
  updateNeedsVersion: true,
  strategy: {
    prepareForCreate: (request) => {
      request.status = {};
    },
    prepareForUpdate: (request, old) => {
      request.status = old.status;
    },
    validate,
    validateUpdate(request, old, errors, env) {
      metadataUpdateAgain(request, old, errors, env);
      immutable(request.spec, old.spec, at, errors);
    },
  },
  subresources: {
    status: status({
      prepareForUpdate(request, old) {
        keepMetadata(request, old);
        request.spec = old.spec;
      },
      validateUpdate(request, old, errors, env) {
        metadataUpdateAgain(request, old, errors, env);
        if (errors.empty) validateAnswer(request, old, errors, env);
      },
      resetFields: [['spec']],
    }),
  },
  fields: { 'spec.signerName': ({ spec }) => spec.signerName, 'spec.nodeName': ({ spec }) => spec.nodeName },
  columns: [
    nameColumn,
    { name: 'PodName', type: 'string', description: 'The pod that the certificate is for.' },
    { name: 'ServiceAccountName', type: 'string', description: 'The service account of the pod.' },
    { name: 'NodeName', type: 'string', description: 'The node that the pod runs on.' },
    { name: 'SignerName', type: 'string', description: 'The requested signer.' },
    { name: 'State', type: 'string', description: 'Whether the request is pending, issued, denied or failed.' },
    { name: 'UnverifiedUserAnnotations', type: 'string', description: 'What the pod says to the signer.', since: '1.35' },
  ],
  cells: (request) => {
    const { podName, serviceAccountName, nodeName, signerName, unverifiedUserAnnotations } = request.spec;
    const notes = annotationsCell(unverifiedUserAnnotations);
    return [nameCell(request), podName, serviceAccountName, nodeName, signerName, stateCell(request), notes];
  },
});

const annotationsCell = (annotations: Record<string, string> | undefined): string =>
  Object.entries(annotations ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join(',') || '<none>';
