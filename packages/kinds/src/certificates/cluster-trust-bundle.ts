/** Bundles of trust anchors. Those of a signer are named after it: `example.com:signer:name`. */
import { X509Certificate } from 'node:crypto';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { nameIsSubdomain } from '@plat-dev/meta/names';
import { nameCell } from '../cells.ts';
import { nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { immutable, report } from '../validation/field-checks.ts';
import { metadataAgain, metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { ClusterTrustBundle, ClusterTrustBundleV1alpha1 } from './schema/cluster-trust-bundle.ts';
import { validateSignerName } from './signer-names.ts';

const MAX_BUNDLE_BYTES = 1024 * 1024;
const signerAt = Path.of('spec', 'signerName');
const bundleAt = Path.of('spec', 'trustBundle');

function nameProblems(name: string, signer: string): readonly string[] {
  if (signer === '')
    return name.includes(':') ? ['ClusterTrustBundle without signer name must not have ":" in its name'] : nameIsSubdomain(name);
  const prefix = `${signer.replaceAll('/', ':')}:`;
  if (name.startsWith(prefix)) return nameIsSubdomain(name.slice(prefix.length));
  return [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`];
}

/** Blocks of PEM, each with its headers. */
const block = /-----BEGIN ([^-\n]*)-----\r?\n((?:[^-\n:]+:[^\n]*\n)*)([^-]*)-----END \1-----/g;

function anchorFault(type: string, headers: string, base64: string): string | undefined {
  if (type !== 'CERTIFICATE') return `has bad block type: ${type}`;
  if (headers !== '') return 'has PEM block headers';
  try {
    return new X509Certificate(Buffer.from(base64, 'base64')).ca ? undefined : 'does not have the CA bit set';
  } catch {
    return 'does not parse as X.509';
  }
}

function validateAnchors(pem: string, errors: FieldErrors): void {
  if (Buffer.byteLength(pem) > MAX_BUNDLE_BYTES) {
    errors.tooLong(bundleAt, MAX_BUNDLE_BYTES);
    return;
  }
  const faulty = (text: string): void => errors.invalid(bundleAt, '<value omitted>', text);
  const anchors = [...pem.matchAll(block)];
  const places = new Map<string, number[]>();
  let isWhole = true;
  anchors.forEach(([, type = '', headers = '', body = ''], i) => {
    const base64 = body.replace(/\s/g, '');
    const fault = anchorFault(type, headers, base64);
    if (fault !== undefined) {
      faulty(`entry ${i} ${fault}`);
      isWhole = false;
    }
    places.set(base64, [...(places.get(base64) ?? []), i]);
  });
  if (!isWhole) return;
  if (anchors.length === 0) faulty('at least one trust anchor must be provided');
  for (const indices of places.values()) if (indices.length > 1) faulty(`duplicate trust anchor (indices [${indices.join(' ')}])`);
}

function validateNames({ metadata, spec: { signerName = '' } }: ClusterTrustBundle, errors: FieldErrors): void {
  const { name = '' } = metadata;
  if (name !== '') report(errors, Path.of('metadata', 'name'), name, [...nameProblems(name, signerName)]);
  if (signerName !== '') validateSignerName(signerName, signerAt, errors);
}

export const ClusterTrustBundleKind = kind<ClusterTrustBundle>({
  group: 'certificates',
  kind: 'ClusterTrustBundle',
  plural: 'clustertrustbundles',
  scope: 'Cluster',
  versions: { v1beta1: { schema: ClusterTrustBundle }, v1alpha1: { schema: ClusterTrustBundleV1alpha1 } },
  hub: 'v1beta1',
  updateNeedsVersion: true,
  // The rules of the name depend on the signer.
  nameRule: () => [],
  strategy: {
    validate(bundle, errors) {
      validateNames(bundle, errors);
      validateAnchors(bundle.spec.trustBundle, errors);
    },
    validateUpdate(bundle, old, errors, env) {
      metadataAgain(bundle, { namespaced: false, nameRule: () => [] }, errors, env);
      validateNames(bundle, errors);
      if (bundle.spec.trustBundle !== old.spec.trustBundle) validateAnchors(bundle.spec.trustBundle, errors);
      metadataUpdateAgain(bundle, old, errors, env);
      immutable(bundle.spec.signerName ?? '', old.spec.signerName ?? '', signerAt, errors);
    },
  },
  fields: { 'spec.signerName': ({ spec }) => spec.signerName ?? '' },
  columns: [nameColumn, { name: 'SignerName', type: 'string', description: 'The signer whose certificates the anchors verify.' }],
  cells: (bundle) => [nameCell(bundle), bundle.spec.signerName || '<none>'],
});
