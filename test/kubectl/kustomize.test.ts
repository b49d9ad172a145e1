/** What `plat kustomize` prints is what the stock client's kustomize prints, on the same directories. */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { run } from '../../packages/cli/src/index.ts';
import { testIO } from '../../packages/cli/src/testing.ts';
import { temporaryDirectory } from '../../packages/lib/src/testing/temporary.testing.ts';
import { kubectlBefore, kubectlMissing, kubectlProgram } from '../support/kubectl.ts';
import { kustomizations } from '../support/kustomizations.ts';

const reason = kubectlMissing === undefined ? '' : ` (${kubectlMissing})`;

// Earlier releases have a kustomize of the second version.
describe.skipIf(kubectlMissing !== undefined || kubectlBefore(24))(`kustomize${reason}`, () => {
  test.each(kustomizations)('$name', async ({ files, directory = '.' }) => {
    const root = temporaryDirectory('kustomize');
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text, path.endsWith('.bin') ? 'latin1' : 'utf8');
    }
    const io = testIO({ cwd: root });
    expect({ code: await run(['kustomize', directory], io), stderr: io.stderr }).toEqual({ code: 0, stderr: '' });
    const { stdout } = await promisify(execFile)(kubectlProgram, ['kustomize', directory], { cwd: root });
    expect(io.stdout).toBe(stdout);
  });
});
