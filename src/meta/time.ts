/** Times and durations under the name by which the rules of kinds know them; the formats stand in `lib`, where the codecs reach them too. */
export * from '../lib/time.ts';
