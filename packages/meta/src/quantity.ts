/** Quantities for the rules of kinds; the arithmetic is in `lib`, which the codecs use too. */
export * from '@plat-dev/lib/quantity';
