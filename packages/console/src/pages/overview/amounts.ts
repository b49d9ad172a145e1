/** Amounts in few characters, for axes and legends. */

/** `1.2k`, `0.4`, `12`. */
export function numberText(value: number): string {
  if (value >= 1e6) return `${rounded(value / 1e6)}M`;
  if (value >= 1e4) return `${rounded(value / 1e3)}k`;
  return rounded(value);
}

/** `3 ms`, `1.5 s`. */
export function secondsText(value: number): string {
  return value < 1 ? `${rounded(value * 1000)} ms` : `${rounded(value)} s`;
}

/** `96 MiB`. */
export function byteText(value: number): string {
  if (value === 0) return '0';
  if (value >= 2 ** 30) return `${rounded(value / 2 ** 30)} GiB`;
  return value >= 2 ** 20 ? `${rounded(value / 2 ** 20)} MiB` : `${rounded(value / 2 ** 10)} KiB`;
}

export const percentText = (value: number): string => `${rounded(value * 100)} %`;

/** Three digits at most, unless the number has more before its point. */
function rounded(value: number): string {
  if (value === 0 || value >= 100) return String(Math.round(value));
  return String(Number(value.toPrecision(2)));
}
