import { expect, test } from 'vitest';
import { flagTexts } from './flag-texts.ts';
import { parseServerFlags, type ServerOptions } from './server-options.ts';

test('flags are shown as they would be given, without passwords', () => {
  const args = [
    '--store=etcd',
    '--etcd-servers=https://root:secret@127.0.0.1:2379',
    '--request-timeout=90s',
    '--authorization-mode=Node,RBAC',
  ];
  const texts = flagTexts(parseServerFlags(args) as ServerOptions);
  expect(texts).toMatchObject({
    store: 'etcd',
    'request-timeout': '1m30s',
    'authorization-mode': '[Node,RBAC]',
    'anonymous-auth': 'true',
    'etcd-servers': '[https://…@127.0.0.1:2379]',
  });
  expect(JSON.stringify(texts)).not.toContain('secret@');
});
