/** JSON.stringify throws on a bigint, so that the compiler refuses values that may hold one: `jsonText` writes them. */
interface JSON {
  stringify<T>(value: T, replacer?: undefined, space?: string | number): true extends MayHoldBigint<T> ? typeof useJsonText : string;
}
declare const useJsonText: unique symbol;

/** Values nested more deeply than six times are not looked at. */
type MayHoldBigint<T, Depth extends unknown[] = []> = Depth['length'] extends 6
  ? false
  : unknown extends T
    ? true
    : T extends bigint
      ? true
      : T extends readonly (infer Item)[]
        ? MayHoldBigint<Item, [...Depth, unknown]>
        : T extends object
          ? [keyof T] extends [never]
            ? true
            : { [K in keyof T]: MayHoldBigint<T[K], [...Depth, unknown]> }[keyof T]
          : false;
