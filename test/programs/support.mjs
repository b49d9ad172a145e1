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
      report.error = error instanceof Error ? `${error.stack}\n${describe(error)}` : String(error);
    }
    process.stdout.write(`${JSON.stringify(report)}\n`);
  }
  // Clients keep connections and watches open, which would keep the process.
  process.exit();
}

/** Clients hide what the server said in fields of their errors. */
const describe = (error) => JSON.stringify({ ...error, cause: String(error.cause ?? '') });

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

/** Resolves with the first value of the function that is not undefined. What never comes ends with the script's time. */
export async function eventually(look) {
  for (;;) {
    const value = await look();
    if (value !== undefined) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
