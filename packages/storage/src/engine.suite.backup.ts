/** The part of the behaviour suite for backup and restore: held revisions, expiries, skipped revisions. */
import { expect } from 'vitest';
import { keysOf, put, record, remove, type Scenario, text } from './engine.suite.tools.ts';
import { Compacted } from './engine.ts';

export function backupSuite(scenario: Scenario): void {
  scenario('a revision that is held stays readable, whatever is compacted, until it is released', async ({ engine }) => {
    await engine.commit([put('a', '1'), put('b', '1')]);
    const hold = await engine.hold(60_000);
    await engine.commit([put('a', '2')]);
    const { revision } = await engine.commit([remove('b')]);
    await engine.compact(revision);
    expect(engine.compacted).toBeLessThanOrEqual(hold.revision);
    expect(keysOf(await engine.range({ prefix: '', at: hold.revision }))).toEqual(['a', 'b']);
    expect(text(await engine.get('a', hold.revision))).toBe('1');
    await hold.release();
    await engine.compact(revision);
    await expect(engine.get('a', hold.revision)).rejects.toThrow(Compacted);
  });

  scenario('entries include their expiry if requested', async ({ engine }) => {
    await engine.commit([put('a', '1'), put('b', '1', undefined, 3_600)]);
    const [a, b] = (await engine.range({ prefix: '', expiries: true })).entries;
    expect(a).not.toHaveProperty('expires');
    expect(b?.expires).toBeGreaterThan(0);
    expect((await engine.range({ prefix: '' })).entries.some((entry) => 'expires' in entry)).toBe(false);
  });

  scenario('revisions that are left out are never given out, nor read', async (fixture) => {
    const { engine } = fixture;
    const first = (await engine.commit([put('a', '1')])).revision;
    await engine.skipTo(first + 1_000);
    expect(await engine.currentRevision()).toBeGreaterThanOrEqual(first + 1_000);
    expect(text(await engine.get('a'))).toBe('1');
    await expect(engine.get('a', first)).rejects.toThrow(Compacted);
    const { revision } = await engine.commit([put('a', '2', first)]);
    expect(revision).toBeGreaterThan(first + 1_000);
    const again = (await fixture.reopen?.()) ?? engine;
    expect(await again.currentRevision()).toBe(revision);
    expect(text(await again.get('a'))).toBe('2');
    const seen = record(again, revision);
    await seen.reached((await again.commit([put('b', '1')])).revision);
    expect(seen.changes.map(text)).toEqual(['1']);
    seen.stop();
  });
}
