/** Lists in errors, in the notation of a stock server: `[]networking.PolicyType{"Ingress"}`. */
export function goList(type: string, list: readonly (string | number)[] | undefined): string {
  return list === undefined ? `[]${type}(nil)` : `[]${type}{${list.map((item) => JSON.stringify(item)).join(', ')}}`;
}

/** Limit of bytes that an error shows. */
const SHOWN_BYTES = 4096;

/** Bytes, given as base64: `[]byte{0x6e, 0x6f}`. */
export function goBytes(base64: string | undefined): string {
  if (base64 === undefined) return '[]byte(nil)';
  const bytes = Buffer.from(base64, 'base64');
  const byteTexts = Array.from(bytes.subarray(0, SHOWN_BYTES), (byte) => `0x${byte.toString(16)}`);
  return `[]byte{${byteTexts.join(', ')}${bytes.length > SHOWN_BYTES ? ', …' : ''}}`;
}
