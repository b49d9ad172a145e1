/** What docs/dependencies.md says of dependencies holds, and so do the checks that it names. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { auditResult } from '../scripts/audit.mjs';
import { forTools, isAllowed, type Lockfile, licencesOf, offences, permissive } from '../scripts/licences.mjs';
import { type Bom, runTimePart } from '../scripts/sbom.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const json = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const manifest: { name: string; dependencies: Record<string, string>; devDependencies: Record<string, string> } = json('package.json');
const lockfile: Lockfile = json('package-lock.json');
const installed = (path: string) => (existsSync(join(root, path, 'package.json')) ? json(`${path}/package.json`) : undefined);
const licences = licencesOf(lockfile, installed);
/** What `packages/console` depends on, but for tools and packages of this repository. */
function bundledPackages(): [string, string][] {
  const { devDependencies }: { devDependencies: Record<string, string> } = json('packages/console/package.json');
  return Object.entries(devDependencies).filter(([name]) => !name.startsWith('@plat-dev/') && name !== 'vite' && name !== 'vitest');
}

describe('docs/dependencies.md', () => {
  const page = readFileSync(join(root, 'docs/dependencies.md'), 'utf8');
  /** The cells of the table under a heading, without its head, by package. */
  function tableUnder(heading: string): Map<string, string[]> {
    const section = page.split(/^#+ /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
    const rows = section.split('\n').filter((line) => line.startsWith('| '));
    const cells = rows.slice(2).map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
    return new Map(cells.map(([name = '', ...others]) => [name.replace(/^\[(.*)\].*$/, '$1'), others]));
  }
  const licenceOf = (name: string) => licences.find((one) => one.name === name)?.licence;
  /** Platforms differ in the end of the name alone. */
  const family = (name: string) => name.replace(/^(@(?:lmdb\/lmdb|msgpackr-extract\/msgpackr-extract)-).*/, '$1*');
  const how = (columns: string) =>
    `docs/dependencies.md needs one row for each of these packages: ${columns}; "Adding or raising one" there says how`;

  test('has a row for each dependency at run time', () => {
    const rows = tableUnder('At run time');
    const facts = Object.entries(manifest.dependencies).map(([name, version]) => [name, version, licenceOf(name)]);
    const columns = 'package, version, licence, size, what it is trusted with, who keeps it, what we would do without it';
    expect([...rows].map(([name, [version, licence]]) => [name, version, licence]).sort(), how(columns)).toEqual(facts.sort());
    for (const [name, cells] of rows) expect([name, cells.length, cells.every((cell) => cell !== '')]).toEqual([name, 6, true]);
  });

  test('has a row for each package that they bring', () => {
    const rows = tableUnder('What they bring');
    const brought = licences.filter(({ name, isTool }) => !isTool && !(name in manifest.dependencies));
    const facts = new Map(brought.map(({ name, version, licence }) => [family(name), [family(name), version, licence]]));
    expect(
      [...rows].map(([name, [version, licence]]) => [name, version, licence]).sort(),
      how('package, version, licence, size, use'),
    ).toEqual([...facts.values()].sort());
  });

  test('has a row for each package for development', () => {
    const rows = tableUnder('For development');
    const facts = Object.entries(manifest.devDependencies).map(([name, version]) => [name, version, licenceOf(name)]);
    expect([...rows].map(([name, [version, licence]]) => [name, version, licence]).sort(), how('package, version, licence, use')).toEqual(
      facts.sort(),
    );
    for (const [name, cells] of rows) expect([name, cells[2]]).not.toEqual([name, '']);
  });

  test('has a row for each package that the page of the console is made of', () => {
    const rows = tableUnder('In the page of the console');
    const facts = bundledPackages().map(([name, version]) => [name, version, licenceOf(name)]);
    expect(
      [...rows].map(([name, [version, licence]]) => [name, version, licence]).sort(),
      how('package, version, licence, use, who'),
    ).toEqual(facts.sort());
    for (const [, version, licence] of facts)
      expect([version, isAllowed(licence ?? '', permissive)]).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+$/), true]);
  });

  /** What is built on the machine does not count. */
  function bytesOf(directory: string): number {
    return readdirSync(directory, { withFileTypes: true }).reduce((sum, entry) => {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) return entry.name === 'node_modules' || entry.name === 'build' ? sum : sum + bytesOf(path);
      return sum + statSync(path).size;
    }, 0);
  }
  test('has the sizes of the installed packages', () => {
    const rows = [...tableUnder('At run time'), ...tableUnder('What they bring')].filter(([name]) =>
      existsSync(join(root, 'node_modules', name)),
    );
    expect(rows.length).toBeGreaterThan(8);
    const wrong = rows.flatMap(([name, [, , size = '']]) => {
      const [, number, unit] = /^([\d.]+) ([kM])B$/.exec(size) ?? [];
      const bytes = bytesOf(join(root, 'node_modules', name));
      const share = (Number(number) * (unit === 'M' ? 1e6 : 1e3)) / bytes;
      return share > 0.8 && share < 1.25 ? [] : [`${name}: ${size}, but it has ${bytes} bytes`];
    });
    expect(wrong).toEqual([]);
  });

  test('dependencies at run time have exact versions', () => {
    expect(Object.values(manifest.dependencies).filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });
});

describe('licences', () => {
  test('those of all packages are allowed', () => {
    expect(licences.length).toBeGreaterThan(400);
    expect(offences(licences)).toEqual([]);
    expect(offences(licencesOf(json('test/programs/package-lock.json'), () => undefined).map((one) => ({ ...one, isTool: true })))).toEqual(
      [],
    );
  });

  test.each([
    ['MIT', true],
    ['GPL-3.0-only', false],
    ['(MIT OR GPL-3.0-or-later)', true],
    ['GPL-3.0-only OR MIT', true],
    ['MIT AND GPL-2.0', false],
    ['(MIT AND Zlib)', true],
    ['(MIT OR GPL-2.0) AND GPL-3.0-only', false],
    ['MIT AND (GPL-2.0 OR ISC)', true],
    ['MPL-2.0', false],
    ['SEE LICENSE IN LICENSE.md', false],
    ['MIT Zlib', false],
    ['(MIT', false],
    ['UNLICENSED', false],
    ['', false],
  ])('%s at run time: %s', (expression, allowed) => {
    expect(isAllowed(expression, permissive)).toBe(allowed);
  });

  test('a package for development may have more of them', () => {
    expect(isAllowed('MPL-2.0', forTools)).toBe(true);
    expect(isAllowed('AGPL-3.0-only', forTools)).toBe(false);
  });

  test('offences are packages with a licence that is not allowed or not known', () => {
    const packages = {
      '': {},
      'node_modules/fine': { version: '1.0.0', license: 'MIT', optionalDependencies: { 'fine-other-platform': '1.0.0' } },
      'node_modules/fine-other-platform': { version: '1.0.0', optional: true },
      'node_modules/none': { version: '1.0.0' },
      'node_modules/optional-none': { version: '1.0.0', optional: true },
      'node_modules/tool': { version: '1.0.0', license: 'MPL-2.0', dev: true },
      'node_modules/brought': { version: '1.0.0', license: 'MPL-2.0' },
      'node_modules/fine/node_modules/@scope/nested': { version: '2.0.0', license: 'GPL-3.0-only', dev: true },
      'node_modules/changed': { version: '1.0.0', license: 'MIT' },
      'node_modules/old': { version: '1.0.0' },
    };
    const found = licencesOf({ packages }, (path) =>
      path === 'node_modules/changed' ? { license: 'BUSL-1.1' } : path === 'node_modules/old' ? { license: { type: 'ISC' } } : undefined,
    );
    expect(offences(found)).toEqual([
      'none 1.0.0: no licence is known',
      'optional-none 1.0.0: no licence is known',
      'brought 1.0.0: MPL-2.0',
      '@scope/nested 2.0.0: GPL-3.0-only',
      'changed 1.0.0: BUSL-1.1',
    ]);
  });
});

describe('audit', () => {
  const vulnerable = {
    auditReportVersion: 2,
    vulnerabilities: {
      leaky: { name: 'leaky', severity: 'high', range: '<2', via: [{ title: 'It leaks', url: 'https://example.com/1' }, 'pipe'] },
    },
  };

  test('a vulnerability fails, with its reason', () => {
    expect(auditResult(JSON.stringify(vulnerable), 'at run time')).toEqual({
      failed: true,
      lines: ['audit of packages at run time: 1 vulnerable', '  leaky <2 (high): It leaks https://example.com/1; by pipe'],
    });
    expect(auditResult('{"auditReportVersion":2,"vulnerabilities":{}}', 'at run time')).toEqual({
      failed: false,
      lines: ['audit of packages at run time: nothing is known'],
    });
  });

  test.each([
    ['{"message":"405 Method Not Allowed","statusCode":405,"error":{}}', '405 Method Not Allowed'],
    ['{"message":"request to https://registry.example.com failed","error":{}}', 'request to https://registry.example.com failed'],
    ['', 'npm gave no report'],
  ])('a registry without this service is reported: %s', (output, reason) => {
    expect(auditResult(output, 'at run time')).toEqual({ failed: false, lines: [`audit of packages at run time: not done, ${reason}`] });
  });
});

describe('bill of materials', () => {
  const text = execFileSync(process.execPath, [join(root, 'scripts/sbom.mjs')], { encoding: 'utf8', maxBuffer: 64 << 20 });
  const bom: Bom = JSON.parse(text);

  test('has the form of CycloneDX', () => {
    expect(bom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: expect.stringMatching(/^1\.[56]$/), version: 1 });
    expect(bom.serialNumber).toMatch(/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(bom.metadata.component).toMatchObject({ type: 'application', name: manifest.name });
    const refs = [bom.metadata.component, ...bom.components].map((component) => component['bom-ref']);
    expect(new Set(refs).size).toBe(refs.length);
    for (const { type, name, version, purl } of bom.components)
      expect([type, purl]).toEqual(['library', `pkg:npm/${name.replace('@', '%40')}@${version}`]);
    expect(bom.dependencies.map(({ ref }) => ref).sort()).toEqual(refs.sort());
    expect(bom.dependencies.flatMap(({ dependsOn = [] }) => dependsOn).filter((ref) => !refs.includes(ref))).toEqual([]);
  });

  test('has every package at run time, and no other', () => {
    const named = ({ name, version }: { name: string; version: string | undefined }) => `${name}@${version}`;
    expect(bom.components.map(named).sort()).toEqual(
      licences
        .filter(({ isTool }) => !isTool)
        .map(named)
        .sort(),
    );
    expect(bom.dependencies.find(({ ref }) => ref === bom.metadata.component['bom-ref'])?.dependsOn?.toSorted()).toEqual(
      Object.entries(manifest.dependencies)
        .map(([name, version]) => `${name}@${version}`)
        .sort(),
    );
  });

  test('tells nothing of the machine that made it', () => {
    expect(
      bom.components.flatMap(({ externalReferences = [] }) => externalReferences).filter(({ type }) => type === 'distribution'),
    ).toEqual([]);
    expect(text).not.toContain(root.replace(/[\\/]$/, ''));
    expect(text).not.toMatch(/registry/i);
  });

  test('a package that tools need as well is part of it; where it came from is not', () => {
    const component = (name: string, more: object = {}) => ({
      'bom-ref': name,
      type: 'library',
      name,
      version: '1',
      purl: `pkg:npm/${name}@1`,
      ...more,
    });
    const development = { name: 'cdx:npm:package:development', value: 'true' };
    const distribution = { type: 'distribution', url: 'https://registry.example.com/shared.tgz' };
    const shared = component('shared', { properties: [development], externalReferences: [distribution] });
    const whole = {
      ...bom,
      metadata: { component: component('directory') },
      components: [component('used'), component('tool'), shared, component('of-tool')],
      dependencies: [
        { ref: 'directory', dependsOn: ['used', 'tool'] },
        { ref: 'used', dependsOn: ['shared'] },
        { ref: 'shared', dependsOn: ['used'] },
        { ref: 'tool', dependsOn: ['shared', 'of-tool'] },
        { ref: 'of-tool' },
      ],
    };
    const part = runTimePart(whole, { name: 'product', dependencies: { used: '1' } });
    expect(part.metadata.component.name).toBe('product');
    expect(part.components).toEqual([
      component('used', { properties: [], externalReferences: [] }),
      component('shared', { properties: [], externalReferences: [] }),
    ]);
    expect(part.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn])).toEqual([
      ['directory', ['used']],
      ['used', ['shared']],
      ['shared', ['used']],
    ]);
  });
});
