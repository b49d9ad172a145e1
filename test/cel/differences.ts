/** Where this evaluator differs from the public conformance cases on purpose, or does not have what they are about. */

/** Files of cases that are about something that is not here. */
export const leftOut: Readonly<Record<string, string>> = {
  block_ext: 'cel.block is made by optimizers, nobody writes it',
  encoders_ext: 'base64 functions are not among those that definitions may use',
  enums: 'values are JSON: there are no protobuf enums',
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
export const differences: Readonly<Record<string, readonly Difference[]>> = {
  comparisons: [{ cases: /lossy_double|big_double_int/, reason: 'an int and a double are compared exactly, not as two doubles' }],
  dynamic: [{ cases: /Value\{null_value/, reason: 'a message of protobuf under its short name' }],
  namespace: [{ cases: /container_lookup|namespace_shadowing\/basic/, reason: 'there are no containers: variables have one name' }],
  network_ext: [{ cases: /ip\('::ffff/, reason: 'an IPv4 address in the form of IPv6 is refused, as definitions know it' }],
  type_deduction: [{ cases: /function_result_type|tuple\(/, reason: 'functions that the cases declare themselves' }],
};
