/** The parts of a release that are texts and data: what must hold before it is made, its notes, and a bill of materials without chance. */
import { createHash } from 'node:crypto';

const versionForm = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/;

/** What is in the way of a release. `versions` by the files that they stand in. */
export function faultsOf({ version, status, changelog, versions }) {
  if (!versionForm.test(version ?? '')) return [`name a version, such as 0.2.0, not ${JSON.stringify(version)}`];
  const faults = [];
  if (status.trim() !== '') faults.push(`files are not committed:\n${status.trimEnd()}`);
  for (const [file, other] of versions) if (other !== version) faults.push(`${file} has the version ${other}`);
  const section = sectionOf(changelog, version);
  if (section === undefined) faults.push(`CHANGELOG.md has no section "## [${version}] - DATE"`);
  else if (!/^- /m.test(section)) faults.push(`CHANGELOG.md says nothing about ${version}`);
  return faults;
}

/** The notes of a release are its section of the changelog. */
export const notesOf = (changelog, version) => `${sectionOf(changelog, version)}\n`;

function sectionOf(changelog, version) {
  const lines = changelog.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`## [${version}]`));
  if (start === -1) return undefined;
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('## ') || /^\[[^\]]+\]: /.test(line));
  const end = length === -1 ? undefined : start + 1 + length;
  return lines
    .slice(start + 1, end)
    .join('\n')
    .trim();
}

/** `1763500000` → 2025-11-18T21:06:40Z. */
export function timeOf(seconds) {
  const text = String(seconds).trim();
  if (!/^\d{1,11}$/.test(text)) throw new Error(`SOURCE_DATE_EPOCH is a number of seconds, not ${JSON.stringify(text)}`);
  return new Date(Number(text) * 1000).toISOString().replace('.000Z', 'Z');
}

/** A bill of materials has a random number and the time at which it was made: here they come from the commit. It also names Node, which executables hold. */
export function reproducible(bom, { commit, date, nodeVersion }) {
  const digits = createHash('sha256').update(commit).digest('hex');
  // The form of a UUID whose digits are free: version 8.
  const parts = [digits.slice(0, 8), digits.slice(8, 12), `8${digits.slice(13, 16)}`, `8${digits.slice(17, 20)}`, digits.slice(20, 32)];
  const node = {
    type: 'platform',
    name: 'node',
    version: nodeVersion,
    'bom-ref': `node@${nodeVersion}`,
    licenses: [{ license: { id: 'MIT' } }],
  };
  return {
    ...bom,
    serialNumber: `urn:uuid:${parts.join('-')}`,
    metadata: { ...bom.metadata, timestamp: date },
    components: [...bom.components, { ...node, description: 'Part of the executables only' }],
  };
}
