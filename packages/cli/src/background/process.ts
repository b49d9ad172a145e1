/** Processes by number and start time: a number alone may belong to another process by now. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Clock } from '@plat-dev/lib/clock';

export interface ProcessId {
  readonly pid: number;
  /** Start time as the system reports it: compared, never parsed. */
  readonly started: string;
}

/** Undefined if there is no such process, or only a zombie. */
export function processOf(pid: number): ProcessId | undefined {
  const started = process.platform === 'linux' ? startOnLinux(pid) : startByProgram(pid, process.platform);
  return started === undefined ? undefined : { pid, started };
}
export const isRunning = ({ pid, started }: ProcessId): boolean => processOf(pid)?.started === started;

/** Fields of /proc/PID/stat behind the name, which may hold anything: the state is the first, the start time the twentieth. */
const START_FIELD = 19;
function startOnLinux(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    // Start times count from when the system started.
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}:${fields[START_FIELD]}`;
  } catch {
    return undefined;
  }
}
type Run = (program: string, args: readonly string[]) => string;
const run: Run = (program, args) =>
  execFileSync(program, args, { encoding: 'utf8', windowsHide: true, stdio: ['ignore', 'pipe', 'ignore'] });

/** What a program of the system says: `ps`, or PowerShell on Windows. */
export function startByProgram(pid: number, platform: NodeJS.Platform, output: Run = run): string | undefined {
  try {
    if (platform === 'win32') {
      const script = `(Get-Process -Id ${pid} -ErrorAction Stop).StartTime.ToFileTimeUtc()`;
      return output('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', script]).trim() || undefined;
    }
    const [state, ...started] = output('ps', ['-o', 'state=,lstart=', '-p', String(pid)])
      .trim()
      .split(/\s+/);
    return state?.startsWith('Z') ? undefined : started.join(' ') || undefined;
  } catch {
    return undefined;
  }
}

/** Poll interval of waits for the exit of a process or for a server to be ready. */
export const POLL_MS = 20;
/** Time to exit after SIGTERM before a process is killed, and after SIGKILL. */
const STOP_MS = 15_000;
const KILL_MS = 5_000;
const steps = [
  ['SIGTERM', STOP_MS],
  ['SIGKILL', KILL_MS],
] as const;

/** Calls of the system, passed in so that a test can replace them. */
export interface ProcessControl {
  isRunning(id: ProcessId): boolean;
  send(pid: number, signal: NodeJS.Signals): void;
}
const system: ProcessControl = { isRunning, send };

/** Ends a process with SIGTERM, which on Windows ends it at once, or with SIGKILL if that takes too long. Throws if it still runs then. */
export async function stopProcess(id: ProcessId, clock: Clock, control: ProcessControl = system): Promise<void> {
  for (const [signal, patience] of steps) {
    if (!control.isRunning(id)) return;
    control.send(id.pid, signal);
    const deadline = clock.monotonic() + patience;
    while (control.isRunning(id) && clock.monotonic() < deadline) await clock.sleep(POLL_MS);
  }
  if (control.isRunning(id)) throw new Error(`process ${id.pid} still runs ${KILL_MS / 1000} seconds after SIGKILL: try again later`);
}
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
