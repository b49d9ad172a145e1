/** What `--v` shows of requests, with a real server. */
import { expect, test } from 'vitest';
import { openLog } from '../../packages/lib/src/log.ts';
import { startTestServer } from '../support/server.ts';

async function logged(verbosity: number): Promise<string[]> {
  let text = '';
  const log = openLog({
    verbosity,
    write: (lines) => {
      text += lines;
    },
  });
  const server = await startTestServer({ identity: 'kubernetes', store: 'memory', log, v: verbosity });
  const path = '/api/v1/namespaces/default/secrets';
  await server.alice.send('GET', `${path}?token=in-the-query`);
  const body = { metadata: { name: 'db' }, stringData: { password: 'correct-horse' } };
  await server.admin.ok('POST', path, body);
  await server.admin.patch(`${path}/db`, { stringData: { password: 'battery-staple' } });
  await server.admin.post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'reviewed-secret' } });
  await server.close();
  log.flush();
  expect(text).not.toMatch(/correct-horse|battery-staple|reviewed-secret|in-the-query|admin-token|alice-token/);
  return text.split('\n').filter((line) => / request method=/.test(line));
}

test('0 to 5: no request', async () => {
  expect(await logged(5)).toEqual([]);
});

test('6: one line for each, with method, path, user, code, time and audit id', async () => {
  const lines = await logged(6);
  expect(lines).toHaveLength(4);
  expect(lines).toEqual(
    expect.arrayContaining([
      expect.stringMatching(
        / method=GET path=\/api\/v1\/namespaces\/default\/secrets user=alice code=403 millis=[\d.]+ audit=[0-9a-f-]{36} /,
      ),
      expect.stringMatching(/ method=POST path=\/api\/v1\/namespaces\/default\/secrets user=admin code=201 /),
    ]),
  );
  expect(lines.join()).not.toContain('body=');
});

test.each([8, 10])('%i: with the outline of what was sent, and no secret', async (verbosity) => {
  const lines = (await logged(verbosity)).filter((line) => / user=(alice|admin) /.test(line));
  expect(lines).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/ method=POST .*body=.*metadata:\{name:string\(2\)\},stringData:\{password:string\(13\)\}/),
      expect.stringMatching(/ method=PATCH .*body=.*stringData:\{password:string\(14\)\}/),
      expect.stringMatching(/ path=\S+tokenreviews .*body=.*spec:\{token:string\(15\)\}/),
    ]),
  );
});
