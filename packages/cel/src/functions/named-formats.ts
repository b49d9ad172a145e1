/** Named formats: `format.dns1123Label().validate(self)` has the errors of a text, and no value where there are none. */
import { own } from '@plat-dev/lib/own';
import type { Frame } from '../budget.ts';
import { one, validates } from '../prices.ts';
import { FORMAT, listOf, optionalOf, STRING } from '../types.ts';
import { FormatValue, NONE, Optional } from '../values.ts';
import { global, type Library, member, type Overload } from './signature.ts';

export interface NamedFormat {
  /** The errors of a text. */
  readonly validate: (text: string) => readonly string[];
  /** Length of the regular expression that a stock server assumes for the cost. */
  readonly patternLength: number;
}

/** The longest expression that estimates assume for any format. */
const LONGEST_PATTERN = 128;
/** Units of validating, and of a character. */
const VALIDATE_UNITS = 100;
const price = validates(LONGEST_PATTERN, (format) => (format instanceof FormatValue ? format.patternLength : 0));

/** The library for formats that the caller knows, by their names in expressions. */
export function namedFormats(since: string, formats: Readonly<Record<string, NamedFormat>>): Library {
  const values = Object.fromEntries(
    Object.entries(formats).map(([name, { validate, patternLength }]) => [name, new FormatValue(name, patternLength, validate)]),
  );
  const validate = (frame: Frame, format: FormatValue, text: string): Optional => {
    frame.spend(VALIDATE_UNITS + text.length);
    const errors = format.validate(text);
    return errors.length === 0 ? NONE : new Optional(errors);
  };
  const functions: Overload[] = Object.values(values).map((value) => global(`format.${value.name}`, [], FORMAT, () => value));
  functions.push(
    global(
      'format.named',
      [STRING],
      optionalOf(FORMAT),
      (_, name: string) => {
        const format = own(values, name);
        return format === undefined ? NONE : new Optional(format);
      },
      one,
    ),
    member('validate', [FORMAT, STRING], optionalOf(listOf(STRING)), validate, price),
  );
  return { since, functions };
}
