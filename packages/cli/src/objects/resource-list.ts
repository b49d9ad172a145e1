/** `cpu=100m,memory=1Gi` on a command line. */
import { FlagError } from '@plat-dev/lib/flags';
import { parseQuantity } from '@plat-dev/meta/quantity';

/** Quantities stay as they were written. `flag` names the flag in errors. Throws FlagError. */
export function resourceList(flag: string, text: string): Record<string, string> {
  const quantities: [string, string][] = text.split(',').map((pair) => {
    const [name = '', quantity = '', more] = pair.split('=');
    if (name === '' || quantity === '' || more !== undefined) {
      throw new FlagError(`--${flag}: ${JSON.stringify(pair)} is not of the form resource=quantity`);
    }
    try {
      parseQuantity(quantity);
      return [name, quantity];
    } catch (error) {
      throw new FlagError(`--${flag}: ${name}: ${(error as Error).message}`);
    }
  });
  return Object.fromEntries(quantities);
}
