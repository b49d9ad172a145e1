/** Where this evaluator differs from the public conformance cases on purpose, or does not have what they are about. */

/** Files of cases that are about something that is not here. */
export const leftOut: Readonly<Record<string, string>> = {
  block_ext: 'cel.block is made by optimizers, nobody writes it',
  encoders_ext: 'base64 functions are not among those that definitions may use',
  enums: 'values are JSON: there are no protobuf enums',
  fields_ext: 'values are JSON',
  math_ext: 'math functions are not among those that definitions may use',
  proto2: 'values are JSON: there are no protobuf messages',
  proto2_ext: 'values are JSON: there are no protobuf messages',
  proto3: 'values are JSON: there are no protobuf messages',
  unknowns: 'all values are known when an expression is evaluated',
  wrappers: 'values are JSON: there are no protobuf messages',
};

interface Difference {
  readonly cases: RegExp;
  readonly reason: string;
}
export const differences: Readonly<Record<string, readonly Difference[]>> = {};
