import { rmSync } from 'node:fs';
import { FakeClock } from '@plat-dev/lib/clock';
import { temporaryDirectory } from '@plat-dev/lib/testing/temporary.testing';
import { engineSuite } from '../engine.suite.ts';
import { openLmdbEngine } from './lmdb.ts';

engineSuite('lmdb', async (options) => {
  const dataDir = temporaryDirectory('plat-lmdb');
  const clock = new FakeClock();
  const open = () => openLmdbEngine({ ...options, dataDir, clock });
  const fixture = {
    engine: await open(),
    async reopen() {
      await fixture.engine.close();
      fixture.engine = await open();
      return fixture.engine;
    },
    advance: (milliseconds: number) => clock.advance(milliseconds),
    dispose: () => rmSync(dataDir, { recursive: true }),
  };
  return fixture;
});
