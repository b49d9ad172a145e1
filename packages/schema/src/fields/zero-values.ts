/** Zero values. */
import { setOwn } from '@plat-dev/lib/own';
import { type MessageType, resolve, type ScalarName, type Type } from '../types.ts';

/**
 * The value of an absent field in the normal form: an empty text, zero, a message with its `always` fields. Undefined if
 * absent and empty are the same: lists, maps, times, bytes, raw values.
 */
export function zeroValue(type: Type): unknown {
  return zeroMakerOf(type)();
}

const nothing = (): undefined => undefined;
const zeroScalars: Readonly<Partial<Record<ScalarName, unknown>>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  double: 0,
  intOrString: 0,
  quantity: '0',
  duration: '0s',
};

/** Makes zero values of a type; `noZero` for a type that has none. */
export function zeroMakerOf(type: Type): () => unknown {
  const resolved = resolve(type);
  if (resolved.node === 'message') return messageMaker(resolved);
  if (resolved.node !== 'scalar') return nothing;
  const zero = zeroScalars[resolved.name];
  return zero === undefined ? nothing : () => zero;
}
export const noZero = nothing;

function messageMaker(type: MessageType): () => unknown {
  let makers: { readonly name: string; readonly make: () => unknown }[] | undefined;
  return () => {
    makers ??= type.ordered
      .filter((field) => field.always && field.nullable !== true)
      .map((field) => ({ name: field.name, make: zeroMakerOf(field.type) }))
      .filter(({ make }) => make !== nothing);
    const zero: Record<string, unknown> = {};
    for (const { name, make } of makers) setOwn(zero, name, make());
    return zero;
  };
}

/** The value for null in a list or a map, which cannot leave a place empty. */
export function placeholderMakerOf(type: Type): () => unknown {
  const resolved = resolve(type);
  if (resolved.node === 'list') return () => [];
  if (resolved.node === 'map') return () => ({});
  if (resolved.node === 'union') return placeholderMakerOf(resolved.other.type);
  if (resolved.node === 'scalar' && resolved.name === 'bytes') return () => '';
  const make = zeroMakerOf(type);
  return make === nothing ? () => null : make;
}
