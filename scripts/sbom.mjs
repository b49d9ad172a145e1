/**
 * Prints a bill of materials (CycloneDX, JSON) of what plat brings along on all platforms: `npm run --silent sbom > sbom.json`.
 *
 * npm makes it from the lockfile. It leaves out packages that tools need, too, when it is told to omit those for development; so
 * this script takes all, and keeps those that the dependencies lead to.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The part of a bill of materials that some of the root's dependencies lead to, by their names. */
export function runTimePart(bom, { name, dependencies = {} }) {
  const root = bom.metadata.component;
  const byRef = new Map(bom.components.map((component) => [component['bom-ref'], component]));
  const needs = new Map(bom.dependencies.map(({ ref, dependsOn = [] }) => [ref, dependsOn]));
  const direct = (needs.get(root['bom-ref']) ?? []).filter((ref) => byRef.get(ref).name in dependencies);
  const wanted = new Set(direct);
  for (const ref of wanted) for (const needed of needs.get(ref) ?? []) wanted.add(needed);
  return {
    ...bom,
    // npm takes the name of the directory.
    metadata: { ...bom.metadata, component: { ...root, name } },
    components: bom.components.filter((component) => wanted.has(component['bom-ref'])).map(withoutRegistry),
    dependencies: [{ ref: root['bom-ref'], dependsOn: direct }, ...bom.dependencies.filter(({ ref }) => wanted.has(ref))],
  };
}
/** Where this machine got it from is not where others do. A package that tools need, too, is not one for development. */
function withoutRegistry({ properties = [], externalReferences = [], ...component }) {
  return {
    ...component,
    properties: properties.filter(({ name }) => name !== 'cdx:npm:package:development'),
    externalReferences: externalReferences.filter(({ type }) => type !== 'distribution'),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  const arguments_ = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only', '--loglevel=error'];
  const text = execFileSync('npm', arguments_, { cwd, encoding: 'utf8', maxBuffer: 64 << 20, shell: process.platform === 'win32' });
  const part = runTimePart(JSON.parse(text), JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')));
  process.stdout.write(`${JSON.stringify(part, undefined, 2)}\n`);
}
