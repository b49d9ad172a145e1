/** The values of closed sets, since the release from which stock servers publish them in OpenAPI. */

/** Of fields that are pointers. */
export const pointerValues = (...values: readonly string[]) => ({ from: { '1.27': { enum: values } } }) as const;
/** Of the items of lists and maps. */
export const itemValues = (...values: readonly string[]) => ({ from: { '1.30': { enum: values } } }) as const;
