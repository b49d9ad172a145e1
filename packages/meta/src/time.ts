/** Times and durations for the rules of kinds; the formats are in `lib`, which the codecs use too. */
export * from '@plat-dev/lib/time';
