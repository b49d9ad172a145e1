/**
 * What the code of the server has opened and not closed: timers (those that keep no process alive as well), ports, sockets and
 * descriptors of files. What the test runner opens is not counted: only what begins in a file of a package.
 */
import { createHook } from 'node:async_hooks';
import { readdirSync, readlinkSync } from 'node:fs';

const counted = new Set(['Timeout', 'Immediate', 'TCPSERVERWRAP', 'PIPESERVERWRAP', 'TCPWRAP', 'PIPEWRAP', 'FSEVENTWRAP', 'STATWATCHER']);
const FRAMES = 40;
/** More than there are controllers whose lists wait for a turn each. */
const MAX_TURNS = 500;

interface Opened {
  readonly type: string;
  /** Its stack is made into text when that is read, for the few things that are left. */
  readonly at: Error;
}

export class LeftOpen {
  private readonly open = new Map<number, Opened>();
  private readonly files = descriptors();
  private readonly hook = createHook({
    // Promises are not counted here, and take a server more time than all that it does where Node has to track each of them.
    ...({ trackPromises: false } as object),
    init: (id, type) => {
      if (!counted.has(type)) return;
      const { stackTraceLimit: limit } = Error;
      Error.stackTraceLimit = FRAMES;
      this.open.set(id, { type, at: new Error() });
      Error.stackTraceLimit = limit;
    },
    destroy: (id) => this.open.delete(id),
  });

  constructor() {
    this.hook.enable();
  }

  /** Each thing that is open, with the place in the code that opened it. */
  async list(): Promise<string[]> {
    // Ends are reported in a later turn of the loop, and work that waited for a turn of its own ends in that one.
    for (let turn = 0; turn < 5 || (turn < MAX_TURNS && this.#places('Immediate').length > 0); turn++) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    const files = [...descriptors()].filter((file) => !this.files.has(file));
    return [...this.#places(), ...files].sort();
  }

  #places(type?: string): string[] {
    const opened = [...this.open.values()].filter((one) => type === undefined || one.type === type);
    return opened.map(placeOf).filter((place) => place !== undefined);
  }

  stop(): void {
    this.hook.disable();
  }
}

/** The place in a package that opened it; undefined: something else did. */
function placeOf({ type, at }: Opened): string | undefined {
  const { prepareStackTrace } = Error;
  // The runner would look up every place in its source.
  Error.prepareStackTrace = undefined as never;
  const lines = (at.stack ?? '').split('\n');
  Error.prepareStackTrace = prepareStackTrace as never;
  // The runtime's own, which keeps the text of the date for a second.
  if (lines.some((line) => line.includes('utcDate') || line.includes('node:internal/http'))) return undefined;
  const place = lines.find((line) => /\/packages\/[a-z]+\/src\//.test(line) && !line.includes('node_modules'));
  return place && `${type}${place.replace(/^\s+at /, ' at ').replace(/\(?[^\s(]*\/packages\//, '(packages/')}`;
}

/** Files and sockets of this process, by what the system says they lead to; pipes and the like belong to the runtime. */
function descriptors(): Set<string> {
  const found = new Set<string>();
  for (const name of readdirSync('/proc/self/fd')) {
    try {
      const target = readlinkSync(`/proc/self/fd/${name}`);
      const isFile = target.startsWith('/') && !target.startsWith('/proc/') && !target.startsWith('/dev/');
      if (isFile || target.startsWith('socket:')) found.add(target);
    } catch {
      // It was the descriptor of this very look.
    }
  }
  return found;
}
