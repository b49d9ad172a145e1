/** The Python client (Debian's python3-kubernetes) as a client of this server. */
import { describe } from 'vitest';
import { pythonMissing, scriptTests } from '../support/foreign-client.ts';

const missing = pythonMissing();

describe.skipIf(missing !== undefined)(`Python (${missing ?? 'found'})`, () => {
  describe('typed client, stock names', () => {
    scriptTests('python', 'typed.py', { identity: 'kubernetes' }, [
      'field validation',
      'create read replace',
      'list in pages',
      'patch json and strategic',
      'patch merge and apply',
      'create from yaml',
      'bind and evict pods',
      'scale and status',
      'watch and resume',
      'watch that the server ended is resumed',
      'service account token',
      'configuration inside of a pod',
      'client certificate',
      'credential plugins',
      'every list is read',
      'discovery and version',
      'custom objects',
      'delete with options and collections',
    ]);
  });
  describe.each(['kubernetes', 'plat'])('dynamic client, names of %s', (identity) => {
    scriptTests('python', 'dynamic.py', { identity }, [
      'discovery',
      'create and list in pages',
      'patches',
      'apply on the server',
      'custom kinds of both scopes',
      'integers of 64 bits',
      'lists are created',
      'scale and status',
      'watch and resume',
      'credentials',
      'delete with options and collections',
    ]);
  });
});
