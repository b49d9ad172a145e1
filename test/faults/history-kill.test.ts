/** The program on the embedded store, killed under load: the API shows every acknowledged change in the history, once, and nothing else. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Random, seededRandom } from '../../packages/lib/src/random.ts';
import { rounds, testSeed } from '../../packages/lib/src/testing/seed.testing.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import type { Loose } from '../support/client.ts';
import { programMissing, startPlat } from '../support/program.ts';
import { Api, Unanswered } from './api.ts';

const TOKEN = 'history-token';
const WRITERS = 6;
const path = '/api/v1/namespaces/default/configmaps';

/** A change as history shows it: `patch 7`, `delete`. One that was not answered may have been made or not. */
interface Change {
  readonly line: string;
  isAnswered: boolean;
}

/** Changes one object, one after another, until there is no answer. */
class Writer {
  readonly name: string;
  readonly changes: Change[] = [];
  private readonly random: Random;
  constructor(name: string, random: Random) {
    this.name = name;
    this.random = random;
  }
  async write(api: Api, next: () => string, answered: () => void): Promise<void> {
    const { status } = await api.send('GET', `${path}/${this.name}`);
    // Deletions look alike: one that was not answered, and was not made, is not expected any more.
    if (status === 200 && this.changes.at(-1)?.line === 'delete') this.changes.pop();
    for (let exists = status === 200; ; ) {
      const value = next();
      const verb = exists ? (this.random.below(5) === 0 ? 'delete' : 'patch') : 'create';
      const change: Change = { line: verb === 'delete' ? verb : `${verb} ${value}`, isAnswered: false };
      this.changes.push(change);
      await this.send(api, verb, value);
      change.isAnswered = true;
      exists = verb !== 'delete';
      answered();
    }
  }
  private async send(api: Api, verb: string, value: string): Promise<void> {
    const data = { value };
    if (verb === 'create') await api.ok('POST', path, { body: { metadata: { name: this.name }, data } });
    else if (verb === 'delete') await api.ok('DELETE', `${path}/${this.name}`);
    else await api.ok('PATCH', `${path}/${this.name}`, { body: { data }, type: 'application/merge-patch+json' });
  }

  /** Throws unless the history is that of the changes, and its newest version the object that is there. */
  async check(api: Api): Promise<void> {
    const { items }: { items: Loose[] } = await api.ok('GET', `${path}/${this.name}?history=full`);
    const shown = items.map(({ verb, object }) => (verb === 'delete' ? verb : `${verb} ${object.data.value}`)).reverse();
    let at = 0;
    const missing = this.changes.filter(({ line, isAnswered }) => {
      if (shown[at] === line) at++;
      else return isAnswered;
      return false;
    });
    expect({ missing, unknown: shown.slice(at) }, this.name).toEqual({ missing: [], unknown: [] });
    expect(items.every(({ user, auditID, time }) => user === 'writer' && auditID !== undefined && Date.parse(time) > 0)).toBe(true);
    for (const { type, patch, object } of items)
      if (type === 'updated') expect(patch).toEqual([{ op: 'replace', path: '/data/value', value: object.data.value }]);
    const { status, body } = await api.send('GET', `${path}/${this.name}`);
    expect(status === 404 ? undefined : body).toEqual(items[0]?.object);
  }
}

test.skipIf(programMissing !== undefined)(
  `history has every acknowledged change after kills${programMissing === undefined ? '' : ` (skipped: ${programMissing})`}`,
  { timeout: 300_000 },
  async () => {
    console.log(`TEST_SEED=${testSeed}`);
    const random = seededRandom(testSeed);
    const dataDir = temporaryDirectory('plat-history-kill');
    const tokens = join(temporaryDirectory('plat-history-kill'), 'tokens.csv');
    writeFileSync(tokens, `${TOKEN},writer,writer-uid,"system:masters"\n`, { mode: 0o600 });
    const args = ['--store', 'lmdb', '--token-auth-file', tokens];
    const writers = Array.from({ length: WRITERS }, (_, i) => new Writer(`w${i}`, random));
    let serial = 0;
    let acknowledged = 0;
    for (let kills = rounds(4); ; kills--) {
      const { child, address } = await startPlat(args, dataDir);
      onTestFinished(() => void child.process.kill('SIGKILL'));
      const api = new Api(address, TOKEN);
      if (acknowledged > 0) for (const writer of writers) await writer.check(api);
      if (kills === 0) {
        api.close();
        child.process.kill('SIGTERM');
        await child.ended;
        break;
      }
      const until = acknowledged + 30 + random.below(150);
      const answered = (): void => {
        if (++acknowledged === until) child.process.kill('SIGKILL');
      };
      const ends = writers.map((writer) => writer.write(api, () => String(serial++), answered));
      for (const end of await Promise.allSettled(ends)) expect((end as PromiseRejectedResult).reason).toBeInstanceOf(Unanswered);
      await child.ended;
      expect(child.process.signalCode).toBe('SIGKILL');
      api.close();
    }
    expect(acknowledged).toBeGreaterThan(100);
  },
);
