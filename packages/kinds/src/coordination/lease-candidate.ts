/** Candidates for a lease. The one with the oldest version gets it, so that servers of two releases can run side by side. */
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { configMapKey, qualifiedName } from '@plat-dev/meta/names';
import { ageCell, nameCell } from '../cells.ts';
import { ageColumn, nameColumn } from '../columns.ts';
import { kind } from '../kind.ts';
import { immutable, report, required } from '../validation/field-checks.ts';
import { metadataUpdateAgain } from '../validation/repeated-metadata.ts';
import { LeaseCandidate, LeaseCandidateV1alpha2 } from './schema/lease-candidate.ts';
import { compareSemver, parseSemver, type Semver } from './semver.ts';

const at = Path.of('spec');
const OLDEST = 'OldestEmulationVersion';

function versionOf(text: string, field: string, errors: FieldErrors): Semver | undefined {
  const version = text === '' ? undefined : parseSemver(text);
  if (text !== '' && version === undefined) errors.invalid(at.child(field), text, 'must be a valid semantic version');
  return version;
}

function validate({ spec }: LeaseCandidate, errors: FieldErrors): void {
  const { leaseName, binaryVersion, emulationVersion = '', strategy = '' } = spec;
  required(leaseName, at, 'leaseName', errors);
  const emulated = versionOf(emulationVersion, 'emulationVersion', errors);
  required(binaryVersion, at, 'binaryVersion', errors);
  const binary = versionOf(binaryVersion, 'binaryVersion', errors);
  if (binary !== undefined && emulated !== undefined && compareSemver(binary, emulated) < 0)
    errors.invalid(at.child('binaryVersion'), binaryVersion, 'must be greater than or equal to `emulationVersion`');
  if (strategy === '') errors.required(at.child('strategy'));
  else validateStrategy(strategy, emulated, errors);
}

function validateStrategy(strategy: string, emulated: Semver | undefined, errors: FieldErrors): void {
  const isNothing = emulated === undefined || compareSemver(emulated, { numbers: [0n, 0n, 0n], prerelease: [] }) === 0;
  if (strategy === OLDEST && isNothing) errors.required(at.child('emulationVersion'), `must be specified when \`strategy\` is '${OLDEST}'`);
  // A stock server names the field twice.
  const here = at.child('strategy').child('strategy');
  if (strategy.includes('/')) report(errors, here, strategy, qualifiedName(strategy));
  else if (strategy !== OLDEST) errors.notSupported(here, strategy, [OLDEST]);
}

export const LeaseCandidateKind = kind<LeaseCandidate>({
  group: 'coordination',
  kind: 'LeaseCandidate',
  plural: 'leasecandidates',
  scope: 'Namespaced',
  versions: { v1beta1: { schema: LeaseCandidate }, v1alpha2: { schema: LeaseCandidateV1alpha2 } },
  hub: 'v1beta1',
  createOnUpdate: true,
  updateNeedsVersion: true,
  nameRule: configMapKey,
  strategy: {
    validate,
    validateUpdate(candidate, old, errors, env) {
      metadataUpdateAgain(candidate, old, errors, env);
      validate(candidate, errors);
      immutable(candidate.spec.leaseName, old.spec.leaseName, at.child('leaseName'), errors);
    },
  },
  fields: { 'spec.leaseName': ({ spec }) => spec.leaseName },
  columns: [
    nameColumn,
    { name: 'LeaseName', type: 'string', description: 'The lease that the candidate could hold.' },
    { name: 'BinaryVersion', type: 'string', description: 'The version of its program.' },
    { name: 'EmulationVersion', type: 'string', description: 'The version whose behaviour it has.' },
    ageColumn,
  ],
  cells: (candidate, env) => {
    const { leaseName, binaryVersion, emulationVersion = '' } = candidate.spec;
    return [nameCell(candidate), leaseName, binaryVersion, emulationVersion, ageCell(candidate, env)];
  },
});
