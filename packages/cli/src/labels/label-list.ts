/** Labels on a command line: `app=web,tier=front`. */
import { FlagError } from '@plat-dev/lib/flags';

/** `flag` names the flag in errors. Throws FlagError. */
export function labelList(flag: string, text: string): Record<string, string> {
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const [key = '', value, more] = pair.split('=');
      if (key === '' || value === undefined || more !== undefined)
        throw new FlagError(`--${flag}: ${JSON.stringify(pair)} is not of the form key=value`);
      return [key, value];
    }),
  );
}
