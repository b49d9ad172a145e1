/** What the scripts of this folder share: steps that report themselves, as those of `test/clients` do. */
import process from 'node:process';

export const namespace = process.env.NAMESPACE;

const steps = [];

/** Adds a step; those of a script run in the order in which they were added. */
export function step(name, action) {
  steps.push({ name, action });
}

/** Runs every step and prints a line for each. One that fails does not keep the others from running. */
export async function run() {
  for (const { name, action } of steps) {
    const report = { step: name };
    try {
      await action();
    } catch (error) {
      process.exitCode = 1;
      // One of the clients throws the answer itself.
      report.error = error instanceof Error ? error.stack : JSON.stringify(error);
    }
    process.stdout.write(`${JSON.stringify(report)}\n`);
  }
  // Clients keep connections and watches open, which would keep the process.
  process.exit();
}

/** Something that others will do: `wait(condition)` resolves when a value that `tell` was called with satisfies the condition. */
export class Events {
  #told = [];
  #waiting = new Set();

  tell(value) {
    this.#told.push(value);
    for (const check of this.#waiting) check();
  }

  wait(condition) {
    return new Promise((resolve) => {
      const check = () => {
        const value = this.#told.find(condition);
        if (value === undefined) return;
        this.#waiting.delete(check);
        resolve(value);
      };
      this.#waiting.add(check);
      check();
    });
  }
}

/** Something that hangs is ended before the script is, so that it says what it waited for. */
const LONGEST_WAIT = 90_000;

/** Resolves with the first value of the function that is not undefined; an error that it throws is not the last word. */
export async function eventually(look) {
  const end = Date.now() + LONGEST_WAIT;
  for (;;) {
    const { value, error } = await attempt(look);
    if (value !== undefined) return value;
    if (Date.now() > end) throw error ?? new Error(`not so in ${LONGEST_WAIT} ms: ${look}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function attempt(look) {
  try {
    return { value: await look() };
  } catch (error) {
    return { error };
  }
}
