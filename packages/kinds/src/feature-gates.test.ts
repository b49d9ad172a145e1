/** The page about feature gates agrees with the table. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Gate, gates } from './feature-gates.ts';

const page = readFileSync(new URL('../../../docs/feature-gates.md', import.meta.url), 'utf8');
const rows = [...page.matchAll(/^\| (\w+) \| (alpha|beta|GA|deprecated) \| ([\d.]+) \| (on|off(?:, on from 1\.\d+)?) \| (.+) \|$/gm)].map(
  (match) => match.slice(1),
);

test('docs/feature-gates.md lists every gate with its stage, release and default', () => {
  const listed = rows.map((row) => row.slice(0, 4));
  const initial = ({ default: isOn, onFrom }: Gate): string => (isOn ? 'on' : onFrom === undefined ? 'off' : `off, on from ${onFrom}`);
  const expected = Object.entries(gates).map(([name, gate]) => [name, gate.stage, gate.since, initial(gate)]);
  expect(listed).toEqual(expected);
});

test('it names the gates that have no effect here', () => {
  const table: Readonly<Record<string, Gate>> = gates;
  for (const [name = '', , , , text = ''] of rows) {
    const { concerns, stage } = table[name] as Gate;
    if (concerns !== 'server' && stage !== 'GA') expect(text, name).toMatch(/no effect here\.$/);
    if (concerns === 'server') expect(text, name).not.toContain('no effect here');
  }
});
