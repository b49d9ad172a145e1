/** Quantities under the name by which the rules of kinds know them; the arithmetic stands in `lib`, where the codecs reach it too. */
export * from '../lib/quantity.ts';
