/** The feature gates of a release, from the table of 1.24 and what later releases changed. */
import { own } from '@plat-dev/lib/own';
import { apiRelease, apiReleases, isAtLeast } from '@plat-dev/lib/version';
import { gateHistory } from './feature-gate-history.ts';
import { type Gate, type GateConcern, type GateStage, gates } from './feature-gate-table.ts';

/** The gates of a release, and what became of those that it has no more. */
interface GatesOfRelease {
  readonly gates: Readonly<Record<string, Gate>>;
  /** Gates that went while they were on: their features stay on. */
  readonly settled: readonly string[];
}
const tables = new Map<string, GatesOfRelease>();

export function gateTableOf(release: string): GatesOfRelease {
  const table = tables.get(release) ?? (isAtLeast(apiRelease, release) ? { gates, settled: [] } : laterTable(release));
  tables.set(release, table);
  return table;
}
/** The gates of a release of the API. */
export const gatesIn = (release: string): Readonly<Record<string, Gate>> => gateTableOf(release).gates;

function laterTable(release: string): GatesOfRelease {
  const table = new Map<string, Gate>(Object.entries(gates));
  const settled: string[] = [];
  for (const { name, concerns, stages, needs } of changedGates()) {
    for (const [since, text] of stages) {
      if (!isAtLeast(release, since)) break;
      const earlier = table.get(name);
      if (text === '-') {
        table.delete(name);
        if (earlier?.default) settled.push(name);
      } else table.set(name, { ...readStage(text), since, concerns: earlier?.concerns ?? concerns, needs });
    }
  }
  const names = [...table.keys()].sort();
  return { gates: Object.fromEntries(names.map((name) => [name, table.get(name) as Gate])), settled };
}

interface ChangedGate {
  readonly name: string;
  readonly concerns: GateConcern;
  readonly stages: readonly (readonly [since: string, stage: string])[];
  readonly needs: readonly string[];
}
/** The lines of the history. */
function changedGates(): ChangedGate[] {
  return gateHistory
    .trim()
    .split('\n')
    .map((line) => {
      const [name = '', concern = '', ...words] = line.split(' ');
      const needs = words.filter((word) => word.startsWith('needs:')).flatMap((word) => word.slice('needs:'.length).split(','));
      const stages = words.filter((word) => !word.startsWith('needs:')).map((word) => word.split(':') as [string, string]);
      const concerns = concern === '-' ? 'server' : (concern as GateConcern);
      return { name, concerns, stages: stages.map(([minor, stage]) => [`1.${minor}`, stage] as const), needs };
    });
}

const stageNames: Readonly<Record<string, GateStage>> = { A: 'alpha', B: 'beta', GA: 'GA', D: 'deprecated' };
/** `B+` → beta, on; `GAL` → GA, locked. */
function readStage(text: string): Pick<Gate, 'stage' | 'default' | 'locked'> {
  const [, letters = '', sign, lock] = /^(A|B|GA|D)([+-]?)(L?)$/.exec(text) ?? [];
  return { stage: own(stageNames, letters) as GateStage, default: sign !== '-' && letters !== 'A', locked: lock === 'L' };
}

/** Releases that have a gate. */
export const releasesWith = (name: string): string[] => apiReleases.filter((release) => own(gatesIn(release), name) !== undefined);
