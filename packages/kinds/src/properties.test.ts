/** The laws of all kinds that have no file of their own for them. */
import { bodies } from './bodies.testing.ts';
import { holdLaws } from './validation/laws.testing.ts';

holdLaws(bodies);
