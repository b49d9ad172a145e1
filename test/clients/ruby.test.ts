/** The Ruby client (Debian's ruby-kubeclient) as a client of this server. */
import { describe } from 'vitest';
import { rubyMissing, scriptTests } from '../support/foreign-client.ts';

const missing = rubyMissing();

describe.skipIf(missing !== undefined)(`Ruby (${missing ?? 'found'})`, () => {
  describe.each(['kubernetes', 'plat'])('names of %s', (identity) => {
    scriptTests('ruby', 'kubeclient.rb', { identity }, [
      'discovery',
      'create, get, update',
      'list in pages',
      'patches',
      'apply',
      'watch and resume',
      'service account token',
      'client certificate, requested and signed',
      'credential plug-ins',
      'every kind is listed',
      'delete with options and collections',
    ]);
  });
});
