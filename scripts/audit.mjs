/**
 * Asks the registry for known vulnerabilities. `npm run audit` fails where a package has one that plat brings along, and lists those of
 * packages for development. Where the registry has no such service, or cannot be reached, it says so and does not fail: mirrors have
 * none, and an outage says nothing about the packages.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What the JSON of `npm audit` means. `what` are the packages that it is about. */
export function auditResult(json, what) {
  const report = parsed(json);
  if (report?.vulnerabilities === undefined)
    return { failed: false, lines: [`audit of packages ${what}: not done, ${report?.message ?? 'npm gave no report'}`] };
  const found = Object.values(report.vulnerabilities);
  const titles = ({ via }) => [...new Set(via.map((cause) => (typeof cause === 'string' ? `by ${cause}` : `${cause.title} ${cause.url}`)))];
  return {
    failed: found.length > 0,
    lines: [
      `audit of packages ${what}: ${found.length === 0 ? 'nothing is known' : `${found.length} vulnerable`}`,
      ...found.map((one) => `  ${one.name} ${one.range} (${one.severity}): ${titles(one).join('; ')}`),
    ],
  };
}
function parsed(json) {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const audit = (...flags) =>
    spawnSync('npm', ['audit', '--json', '--package-lock-only', ...flags], {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      encoding: 'utf8',
      timeout: 120_000,
      shell: process.platform === 'win32',
    }).stdout ?? '';
  const runTime = auditResult(audit('--omit=dev'), 'at run time');
  const all = auditResult(audit(), 'for development and at run time');
  for (const line of [...runTime.lines, ...all.lines]) console.log(line);
  process.exitCode = runTime.failed ? 1 : 0;
}
