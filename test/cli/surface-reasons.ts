/** What kubectl 1.24 has and we have not, or have with another default, each with its reason. */

const logFiles = 'deprecated in kubectl 1.24 and removed in 1.26: there are no log files; as kubectl it is accepted with a warning';

const runFiles = 'kubectl lists it in the help of run, but never reads it';

export const absent: ReadonlyMap<string, string> = new Map([
  ['--add-dir-header', logFiles],
  ['--alsologtostderr', logFiles],
  ['--log-backtrace-at', logFiles],
  ['--log-dir', logFiles],
  ['--log-file', logFiles],
  ['--log-file-max-size', logFiles],
  ['--log-flush-frequency', 'only log files are flushed; as kubectl it is accepted with a warning'],
  ['--logtostderr', logFiles],
  ['--one-output', logFiles],
  ['--skip-headers', logFiles],
  ['--skip-log-headers', logFiles],
  ['--stderrthreshold', logFiles],
  ['--vmodule', 'it names source files of kubectl; as kubectl it is accepted with a warning'],
  ['run --filename', runFiles],
  ['run --kustomize', runFiles],
  ['run --recursive', runFiles],
]);

export const otherDefaults: ReadonlyMap<string, string> = new Map([
  ['--cache-dir', 'the directory depends on the user and on the name of the program: connect.ts'],
  ['api-resources --namespaced', 'kubectl says true, but lists both unless the flag is given, as ours does'],
  ['scale --replicas', 'required in kubectl, too, whose default is never used'],
]);

/** What is being built. */
export const pending: ReadonlySet<string> = new Set([]);
